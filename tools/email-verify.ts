import { z } from 'zod'
import { emailField, emailKeyArgument, EmailVerification } from '../schemas/email.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'
import { must } from '../src/lib/must.ts'

/** Whether mail to an address can arrive, as far as spelling, DNS and lists tell. */
export const emailVerify = defineTool({
  name: 'gateway.email.verify',
  toolset: 'email',
  title: 'Verify an email address',
  summary:
    'Decides accept, review or reject for one email address, with stable reasons: spelling, domain, mail route (MX, Null ' +
    'MX, A/AAAA), disposable and role lists, likely typos. Rejects only what is certain; what DNS cannot say now is a ' +
    'review. The mailbox itself is not probed, no mail is sent, and the address is not stored. Needs an email key, free ' +
    'from gateway.keys.free.',
  brief:
    'Decides accept, review or reject for an email address, with reasons. Sends no mail. Needs an email key (gateway.keys.free).',
  input: z.strictObject({ email: emailField, email_key: emailKeyArgument }),
  output: EmailVerification,
  price: free,
  caller: 'email',
  effects: { readOnly: true, idempotent: true, openWorld: true },
  rest: { method: 'POST', path: '/v1/verify', operationId: 'verifyEmail' },
  skill: {
    id: 'verify-email',
    name: 'Verify an email address',
    tags: ['email', 'verification', 'dns'],
    examples: ['Is this email address real?', 'Check ada@example.com before I sign her up'],
  },
  errors: ['key_required', 'key_invalid', 'rate_limited'],
  examples: [{ title: 'One address', input: { email: 'ada@example.com' } }],
  handle: async function emailVerify({ email }, context) {
    const [verification] = await context.email.verify([email], context)
    return must(verification, 'the answer for the one address that was asked about')
  },
})
