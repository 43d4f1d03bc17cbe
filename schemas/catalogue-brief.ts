// The catalogue for models, as MCP and A2A give it: src/outcomes/catalogue-brief.ts says why.
import { z } from 'zod'

const Price = z.string().describe('Of one call: `free`, or exactly so much')

export const CapabilityEntry = z.strictObject({
  id: z.string(),
  name: z.string(),
  price: Price,
  when_to_use: z.string(),
})

export type CapabilityEntry = z.infer<typeof CapabilityEntry>

export const CapabilityIndex = z.strictObject({
  capabilities: z.array(CapabilityEntry),
  details: z.string().describe('How one entry is read in full'),
  first_call: z.strictObject({
    tool: z.string(),
    arguments: z.record(z.string(), z.unknown()).describe('Works as it stands, free'),
  }),
  catalogue_url: z.string().describe('The whole catalogue with every schema'),
})

export type CapabilityIndex = z.infer<typeof CapabilityIndex>

/** One capability, for a model that is about to use it. */
export const CapabilityInBrief = z.strictObject({
  ...CapabilityEntry.shape,
  description: z.string(),
  delivered: z.string().describe('What the outcome contains'),
  limitations: z.array(z.string()),
  latency_note: z.string(),
  tool: z.string().describe('Of MCP'),
  skill: z.string().describe('Of A2A'),
  example: z.record(z.string(), z.unknown()).describe('Arguments that work when sent unchanged'),
  answer: z.record(z.string(), z.string()).describe('The members of what is delivered'),
  schema_url: z.string().describe('Input and output schema in full'),
})
export type CapabilityInBrief = z.infer<typeof CapabilityInBrief>
