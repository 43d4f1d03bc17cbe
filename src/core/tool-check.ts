// Refuses tools that are wrongly defined. Types refuse most of them; the rest is refused when the tool is defined, or when the
// registry is made of it, in a sentence that says what to write.
import { z } from 'zod'
import { isPaid } from './price.ts'
import type { AnyTool } from './tool.ts'

/** Members that every tool must have, each with the form in which it is written. */
const REQUIRED = {
  title: 'a few words for people',
  toolset: "'web', 'payments', 'egress', 'commerce', 'email', 'market' or 'operator'",
  summary: 'a sentence that says what it does',
  input: 'z.strictObject({ … })',
  output: 'z.strictObject({ … })',
  price: 'free, credits(…) or x402(…)',
  caller: "'anyone', 'capability', 'account', 'operator', 'admin', 'email' or 'seller'",
  effects: '{ readOnly: …, idempotent: …, openWorld: … }',
  rest: '{ method, path, operationId }',
  errors: '[], or the codes that it throws',
} as const

/**
 * The build strips types without checking them, so a member that nobody wrote gets here.
 * @throws {Error}
 */
export function checkMembers(given: { readonly name: string }): void {
  for (const [member, form] of Object.entries(REQUIRED))
    if (Reflect.get(given, member) === undefined)
      throw new Error(`${given.name}: has no \`${member}\`: write ${form}`)
}

/** @throws {Error} */
export function checkTool(tool: AnyTool): void {
  const problem = findProblem(tool)
  if (problem !== undefined) throw new Error(`${tool.name}: ${problem}`)
}

/** Callers that no credits are taken from: those of a seller are none. */
const WITHOUT_CREDITS = {
  anyone: 'anybody',
  email: 'a holder of an email key',
  seller: 'a seller',
} as const

function findProblem(tool: AnyTool): string | undefined {
  const { name, price, effects, caller, doors, skills, rest, output, reply } = tool
  if (!/^gateway[._][a-z0-9_.]{1,40}$/.test(name))
    return 'not the name of a tool: write gateway., then at most 40 of a-z, 0-9, _ and dots'
  if (doors.includes('a2a') !== skills.length > 0)
    return 'skills and doors disagree: leave `skill` out where `a2a` is not among the `doors`'

  if (effects.readOnly && price.kind !== 'free')
    return 'costs money, which changes something: write `effects: { readOnly: false, … }`'
  if (effects.idempotent && price.kind !== 'free')
    return 'is charged anew when it is called again: write `effects: { idempotent: false, … }`'
  if (effects.readOnly && effects.destructive)
    return 'cannot destroy anything while it only reads: write `readOnly: false`, or leave `destructive` out'
  const reads = rest.find(({ method, isRaw }) => method === 'GET' && isRaw !== true)
  if (reads && !effects.readOnly)
    return `GET ${reads.path} may be repeated by anything on the way: write method POST, or \`readOnly: true\` if it is true`

  if (
    price.kind === 'credits' &&
    price.taken === 'call' &&
    (caller === 'anyone' || caller === 'email' || caller === 'seller')
  )
    return `${WITHOUT_CREDITS[caller]} has no account that pays credits: write caller 'account', 'capability' or 'operator', or the price x402(…)`
  if (price.kind !== 'free' && !(output instanceof z.ZodObject))
    return 'what is paid for is answered with a receipt or a balance: write an object as `output`'
  const loose = findLoose(output)
  if (loose !== undefined)
    return `the output schema lets unknown members pass at ${loose}: write z.strictObject(…), or z.looseObject(…) where that is meant`
  if (reply === 'task' && (caller === 'seller' || caller === 'email'))
    return `a task belongs to an account or to a capability, and ${WITHOUT_CREDITS[caller]} has neither: write \`reply: 'message'\``
  if (reply === 'message' && isPaid(tool))
    return "waits for its payment as a task: write `reply: 'task'`, or leave `reply` out"
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

/** Finds an object that is neither strict nor declared loose: members that nobody named would be cut off or sent. */
function findLoose(schema: z.core.$ZodType, path = 'the top', seen = new Set<unknown>()): string | undefined {
  if (seen.has(schema)) return undefined
  seen.add(schema)
  const { def } = schema._zod
  if (schema instanceof z.ZodObject) {
    if (schema.def.catchall === undefined) return path
    for (const [name, member] of Object.entries(schema.shape)) {
      const found = findLoose(member, `${path === 'the top' ? '' : path}/${name}`, seen)
      if (found !== undefined) return found
    }
    return undefined
  }
  for (const inner of innerSchemas(def)) {
    const found = findLoose(inner, path, seen)
    if (found !== undefined) return found
  }
  return undefined
}

/** The schemas inside every other kind of schema: elements, options, both ends of a pipe, whatever it wraps. */
function innerSchemas(def: z.core.$ZodTypeDef): z.core.$ZodType[] {
  const found: z.core.$ZodType[] = []
  for (const name of [
    'innerType',
    'element',
    'items',
    'options',
    'rest',
    'valueType',
    'left',
    'right',
    'in',
    'out',
  ]) {
    const member: unknown = Reflect.get(def, name)
    for (const one of Array.isArray(member) ? member : [member])
      if (one instanceof z.core.$ZodType) found.push(one)
  }
  if (def.type === 'lazy') found.push((def as z.core.$ZodLazyDef).getter())
  return found
}
