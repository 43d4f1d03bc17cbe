// The thirty tools of the MCP benchmark: the same schemas and the same handler for every server in it.
import { z } from 'zod'

export const TOOL_COUNT = 30

export const input = z.strictObject({
  text: z.string().max(1000).describe('What to say'),
  times: z.int().min(1).max(100).default(1).describe('How often'),
  tags: z.array(z.string().max(40)).max(10).optional().describe('Labels for the answer'),
  urgent: z.boolean().optional().describe('Whether it cannot wait'),
  mode: z.enum(['plain', 'loud']).default('plain').describe('How to say it'),
})
export const output = z.strictObject({
  text: z.string().describe('What was said'),
  times: z.int().describe('How often'),
})
export const answer = ({ text, times }: z.output<typeof input>): z.output<typeof output> => ({ text, times })

export const title = (index: number) => `Say something, the ${index}th way`
export const summary = (index: number) =>
  `Says a text as often as asked, the ${index}th way of thirty. Needs nothing and changes nothing.`
export const toolName = (index: number) => `gateway_bench_say_${index}`
