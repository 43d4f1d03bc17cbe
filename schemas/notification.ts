import { z } from 'zod'
import { Timestamp } from './http.ts'

/** The kinds of alerts that somebody may ask for. */
export const ALERT_KINDS = ['approval', 'refresh_failed', 'secret_reflected', 'settler_low'] as const
export const AlertKind = z
  .enum(ALERT_KINDS)
  .describe(
    '`approval`: a permit waits for a person; `refresh_failed`: no token could be minted for a credential; `secret_reflected`: an answer held a secret and ' +
      'was withheld; `settler_low`: an account that settles payments runs out of gas (administrators)',
  )
export type AlertKind = z.infer<typeof AlertKind>

/** An address that is told. The address itself is in no answer: it may be a secret of whoever receives. */
export const NotificationRecord = z.strictObject({
  notification_id: z.string(),
  host: z.string().describe('Host and port of the address; of a mailbox `mailto:` and its domain'),
  kinds: z.array(AlertKind),
  created_at: Timestamp,
  created_by: z.string().describe('Id of the person or service key'),
  told_at: Timestamp.nullable().describe('When it last took one'),
  problem: z
    .string()
    .nullable()
    .describe('What kept it from the last one that it did not take, as a stable word'),
  problem_at: Timestamp.nullable(),
})
export type NotificationRecord = z.infer<typeof NotificationRecord>

export const notificationId = z.string().min(1).max(64).describe('ntg_…')
