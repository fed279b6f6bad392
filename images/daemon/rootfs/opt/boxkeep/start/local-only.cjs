// Loaded into an HTTP server of Node that checks nothing itself: refuses what a page can make a browser send.
const { Server } = require('node:http');

const own = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;
const emit = Server.prototype.emit;

function isOfPage({ headers }) {
  return headers.origin !== undefined || headers['sec-fetch-site'] !== undefined || !own.test(headers.host ?? '');
}

Server.prototype.emit = function (event, request, answer, ...rest) {
  if (event === 'upgrade' && isOfPage(request)) return answer.destroy();
  if (event !== 'request' || !isOfPage(request)) return emit.call(this, event, request, answer, ...rest);
  answer.writeHead(403, { 'content-type': 'text/plain', connection: 'close' });
  answer.end('This server is for programs of this machine, and for no page.\n');
  return true;
};
