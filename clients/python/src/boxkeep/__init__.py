"""The client of boxkeep: commands, files, code, the browser and the desktop of a sandbox."""

from ._async._calls import AsyncBrowser as AsyncBrowser
from ._async._calls import AsyncDesktop as AsyncDesktop
from ._async._code import AsyncCode as AsyncCode
from ._async._code import AsyncCodeSession as AsyncCodeSession
from ._async._commands import AsyncCommandHandle as AsyncCommandHandle
from ._async._commands import AsyncCommands as AsyncCommands
from ._async._download import AsyncDownload as AsyncDownload
from ._async._files import AsyncFiles as AsyncFiles
from ._async._mcp import AsyncMcp as AsyncMcp
from ._async._sandbox import AsyncSandbox as AsyncSandbox
from ._async._watch import AsyncWatch as AsyncWatch
from ._change import Lost as Lost
from ._errors import BadKey as BadKey
from ._errors import BoxError as BoxError
from ._errors import ContentDiffers as ContentDiffers
from ._errors import GaveUp as GaveUp
from ._errors import LocalFailed as LocalFailed
from ._errors import NotBoxkeep as NotBoxkeep
from ._errors import NotTrusted as NotTrusted
from ._errors import Unreachable as Unreachable
from ._mcp_types import McpAnswer as McpAnswer
from ._mcp_types import McpContent as McpContent
from ._mcp_types import McpTool as McpTool
from ._output import Ending as Ending
from ._output import Gap as Gap
from ._output import Offsets as Offsets
from ._output import Output as Output
from ._output import OutputEvent as OutputEvent
from ._picture import Picture as Picture
from ._record import Record as Record
from ._sync._calls import Browser as Browser
from ._sync._calls import Desktop as Desktop
from ._sync._code import Code as Code
from ._sync._code import CodeSession as CodeSession
from ._sync._commands import CommandHandle as CommandHandle
from ._sync._commands import Commands as Commands
from ._sync._download import Download as Download
from ._sync._files import Files as Files
from ._sync._mcp import Mcp as Mcp
from ._sync._sandbox import Sandbox as Sandbox
from ._sync._watch import Watch as Watch
from ._wire import *
from ._wire import version as __version__  # noqa: F401
