// What a tool may not say of itself. Types refuse most of it; the rest is refused when the tool is defined, or when the
// registry is made of it, in a sentence that says what to write.
import { z } from 'zod'
import type { AnyTool } from './tool.ts'

/** @throws {Error} */
export function checkTool(tool: AnyTool): void {
  const problem = findProblem(tool)
  if (problem !== undefined) throw new Error(`${tool.name}: ${problem}`)
}

function findProblem(tool: AnyTool): string | undefined {
  const { name, price, effects, caller, doors, skills, rest, output } = tool
  if (!/^gateway[._][a-z0-9_.]{1,40}$/.test(name))
    return 'not the name of a tool: write gateway., then at most 40 of a-z, 0-9, _ and dots'
  if (doors.includes('a2a') !== skills.length > 0)
    return 'skills and doors disagree: write a `skill` for the A2A door, or leave `a2a` out of `doors`'

  if (effects.readOnly && price.kind !== 'free')
    return 'costs money, which changes something: write `effects: { readOnly: false, … }`'
  if (effects.idempotent && price.kind !== 'free')
    return 'is charged anew when it is called again: write `effects: { idempotent: false, … }`'
  if (effects.readOnly && effects.destructive)
    return 'cannot destroy anything while it only reads: write `readOnly: false`, or leave `destructive` out'
  const reads = rest.find(({ method }) => method === 'GET')
  if (reads && !effects.readOnly)
    return `GET ${reads.path} may be repeated by anything on the way: write method POST, or \`readOnly: true\` if it is true`

  if (price.kind === 'credits' && price.taken === 'call' && (caller === 'anyone' || caller === 'email'))
    return `${caller === 'anyone' ? 'anybody' : 'a holder of an email key'} has no account that pays credits: write caller 'account', 'capability' or 'operator', or the price x402(…)`
  if (price.kind !== 'free' && !(output instanceof z.ZodObject))
    return 'what is paid for is answered with a receipt or a balance: write an object as `output`'
  return undefined
}

/**
 * An example is for sending unchanged, so it has to be taken.
 * @throws {Error}
 */
export function checkExamples(tool: AnyTool): void {
  for (const { title, input, output } of tool.examples) {
    const refused =
      findRefused(tool.input, input) ?? (output === undefined ? undefined : findRefused(tool.output, output))
    if (refused !== undefined)
      throw new Error(
        `${tool.name}: its example “${title}” is refused by its own schema (${refused}): correct one of the two`,
      )
  }
}

function findRefused(schema: z.ZodType, value: unknown): string | undefined {
  const { error } = schema.safeParse(value)
  const [issue] = error?.issues ?? []
  return issue && `${issue.path.join('.') || 'the whole'}: ${issue.message}`
}
