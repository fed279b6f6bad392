/** Answers the gateway's sub-request: whether a request carries the key. */
import { z } from 'zod';
import { CoreError } from '../../kit/errors.ts';
import { Answer } from '../../kit/answer.ts';
import { route } from './app.ts';

export const internalAuth = route({
  operation: 'operations.internal_auth',
  method: 'GET',
  path: '/internal/auth',
  summary: 'Check the key of a request for a gateway',
  data: z.null(),
  errors: ['unauthorized'],
  handle(_deps, { context }) {
    if (!context.isAuthorized) throw new CoreError('unauthorized', 'a valid API key is needed');
    return new Answer(null, { message: 'authorized' });
  },
});
