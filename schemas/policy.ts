import { z } from 'zod'
import { Timestamp } from './http.ts'

export const PolicyId = z
  .enum(['egress', 'payment', 'transaction'])
  .describe('`egress`: hosts; `payment`: payers and payees; `transaction`: what agents may pay')

export const PolicySource = z
  .string()
  .min(1)
  .max(200_000)
  .describe('The whole document as JSON; a member that is there twice is refused')

const Problem = z.strictObject({
  pointer: z.string().describe('JSON Pointer; empty for the whole text'),
  message: z.string(),
})

/** What a policy does, in words. */
export const PolicyStatement = z.strictObject({
  code: z.string().describe('Stable word of the sentence'),
  values: z.record(z.string(), z.string()).describe('What stands in it'),
  text: z.string().describe('The sentence in English'),
})

export const policyReading = {
  policy: PolicyId,
  problems: z.array(Problem).describe('Why it is not valid; empty where it is'),
  statements: z.array(PolicyStatement).describe('What it does; empty where it is not valid'),
}

export const PolicyState = z.strictObject({
  ...policyReading,
  text: z.string().describe('The document as it stands'),
  revision: z.string().describe('Names this very text'),
})
export type PolicyState = z.infer<typeof PolicyState>

const Judged = z.strictObject({
  verdict: z.enum(['allow', 'review', 'deny']),
  reasons: z.array(z.string()).describe('Stable words'),
})

/** The last decisions on record, judged by the text that stands and by another one. */
export const PolicyDryRun = z.strictObject({
  judged: z.int().min(0).describe('Decisions on record, at most 100'),
  since: Timestamp.nullable(),
  counts: z.strictObject({ allow: z.int().min(0), review: z.int().min(0), deny: z.int().min(0) }),
  changes: z
    .array(z.strictObject({ at: Timestamp, what: z.string(), before: Judged, after: Judged }))
    .describe('Those of which both texts do not say the same'),
  gaps: z
    .array(z.strictObject({ code: z.string(), text: z.string() }))
    .describe('What is on no record and was not judged'),
})
export type PolicyDryRun = z.infer<typeof PolicyDryRun>

export const PolicyRevisionRecord = z.strictObject({
  revision_id: z.string(),
  at: Timestamp,
  way: z
    .enum(['seen', 'by_hand', 'here'])
    .describe(
      '`seen`: found at the first look; `by_hand`: the file or row was edited; `here`: through the gateway',
    ),
  by: z.strictObject({ kind: z.string(), id: z.string().nullable() }).describe('Who wrote it'),
  note: z.string().describe('Why, in the words of who wrote it'),
})
export type PolicyRevisionRecord = z.infer<typeof PolicyRevisionRecord>
