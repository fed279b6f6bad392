/** How the port of processes refuses what no call of the service has: as gRPC does, in the headers. */
import type { CoreError } from '../../kit/errors.ts';
import { statusIn } from './failure.ts';

/** The numbers of gRPC, which are not worth its library before the first call. */
const codes: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 12,
  405: 12,
  429: 8,
  503: 14,
};
const internal = 13;

export function rpcFailure({ code, message }: CoreError): Response {
  return new Response(null, {
    headers: {
      'content-type': 'application/grpc',
      'grpc-status': String(codes[statusIn(code)] ?? internal),
      'grpc-message': encodeURIComponent(message).replaceAll('%20', ' '),
    },
  });
}
