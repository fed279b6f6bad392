/** Checks whether an existing session can serve a request with the same id. */
import { advise } from '../../../kit/advice.ts';
import { CoreError } from '../../../kit/errors.ts';
import type { Accounts } from '../../identity/accounts.ts';
import { directoryOf } from '../../processes/directory.ts';
import { assertNoDifferences, differences, isSameAccount } from '../../processes/same-session.ts';
import { poolKindOf } from '../language.ts';
import type { CodeSession } from './session.ts';
import type { NewSession } from './requests.ts';

/**
 * Throws `bad_argument` when the session has another language, kernel or account than requested. An exact request gets
 * `session_exists`, for another directory or environment too.
 */
export function assertSame(session: CodeSession, spec: NewSession, accounts: Accounts): CodeSession {
  const { record } = session;
  const { language, kernel, user, onKernel = false } = spec;
  if (spec.isExact) {
    const cwd = spec.cwd === null ? null : directoryOf(accounts, spec.cwd, user);
    assertNoDifferences(session.id, differences(record, { ...spec, cwd }, accounts), { operation: 'code.close' });
  }
  const wrong =
    record.language !== language
      ? `runs ${record.language}`
      : onKernel && poolKindOf(record.backend) !== 'kernel'
        ? 'runs in no kernel'
        : !onKernel && kernel !== null && record.kernel !== kernel
          ? `has the kernel ${record.kernel ?? 'of its language'}`
          : user !== null && !isSameAccount(accounts.resolve(user), accounts.resolve(record.user))
            ? `runs as ${record.account}`
            : null;
  if (wrong === null) return session;
  throw new CoreError(spec.isExact ? 'session_exists' : 'bad_argument', `session ${session.id} ${wrong}`, {
    advice: advise`Use another ${'sessionId'}.`,
  });
}
