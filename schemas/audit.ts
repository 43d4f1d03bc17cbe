import { z } from 'zod'
import { Timestamp } from './http.ts'

/** The acting party of an event. */
export const AuditActor = z.strictObject({
  kind: z
    .enum(['service_key', 'capability', 'email_key', 'person', 'connection', 'anonymous', 'gateway'])
    .describe('`gateway`: nobody called; a start, a job or housekeeping'),
  id: z.string().optional().describe('Id of the key, the capability, the person or the connection'),
  address: z.string().optional().describe('Address that the call came from'),
  door: z.string().optional(),
  tool: z.string().optional(),
  request_id: z.string().optional().describe('The same as in the log and in problem documents'),
})

/** One event of the audit log. `hash` is the SHA-256 (base64url) of the RFC 8785 text of all other members. */
export const AuditEvent = z.strictObject({
  v: z.literal(1),
  chain: z.string().describe('Account id, or `installation`'),
  seq: z.int().min(1).describe('Place in the chain, without gaps'),
  at: Timestamp,
  event: z.string().describe('`<thing>.<what happened to it>`, for example `credential.rotated`'),
  actor: AuditActor,
  subject: z.strictObject({ type: z.string(), id: z.string() }).nullable(),
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.string())])),
  prev: z.string().nullable().describe('`hash` of the event before; null for the first'),
  hash: z.string(),
})
export type AuditEvent = z.infer<typeof AuditEvent>
