import { z } from 'zod'

/** A long answer over MCP and A2A comes in parts: src/doors/long-answer.ts. */
export const answerFrom = z
  .int()
  .min(0)
  .optional()
  .describe('Where a long answer goes on over MCP and A2A: `left_out.next` of the part before')
  .meta({ listedAs: { description: '`left_out.next`' } })

/** `left_out` of an answer. */
export const LeftOut = z
  .strictObject({
    places: z
      .array(
        z.strictObject({
          at: z.string().describe('JSON Pointer; a list or an object there is shown as JSON text'),
          from: z.int(),
          to: z.int(),
          of: z.int().describe('Characters of the whole'),
        }),
      )
      .describe('What is shown of each long text'),
    next: z.int().optional(),
    read_on: z.string().optional().describe('How the next part is asked for'),
  })
  .describe('Only where the answer is too long for a model')
