import { z } from 'zod'
import { emailItem, emailKeyArgument, EmailVerification } from '../schemas/email.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

/** Many addresses, each with an answer of its own. */
export const emailVerifyBatch = defineTool({
  name: 'gateway.email.verify_batch',
  toolset: 'email',
  title: 'Verify email addresses',
  summary:
    'Verifies 1 to 100 email addresses at once: one decision (accept, review or reject) with reasons for each, in the ' +
    'order of the input. A bad address never fails the batch, the same address gets the same answer, and within two ' +
    'seconds there is an answer for all: what DNS did not say by then is a review. Each counts once towards the day of ' +
    'the key; a batch that does not fit is refused whole.',
  brief:
    'The same for 1 to 100 addresses in order, within two seconds. Each counts towards the day of the key.',
  input: z.strictObject({
    emails: z.array(emailItem).min(1).max(100).describe('Addresses'),
    email_key: emailKeyArgument,
  }),
  output: z.strictObject({ results: z.array(EmailVerification).describe('In the order of `emails`') }),
  price: free,
  caller: 'email',
  effects: { readOnly: true, idempotent: true, openWorld: true },
  rest: { method: 'POST', path: '/v1/verify/batch', operationId: 'verifyEmails' },
  skill: {
    id: 'verify-emails',
    name: 'Verify email addresses',
    tags: ['email', 'verification', 'dns', 'batch'],
    examples: ['Which of these email addresses can receive mail?', 'Clean this mailing list'],
  },
  errors: ['key_required', 'key_invalid', 'rate_limited'],
  // Room for a hundred that are far too long.
  maxBodyBytes: 4 * 1024 * 1024,
  examples: [{ title: 'Two addresses', input: { emails: ['ada@example.com', 'grace@example.org'] } }],
  handle: async function emailVerifyBatch({ emails }, context) {
    return {
      results: [...(await context.email.verify(emails, context))],
    }
  },
})
