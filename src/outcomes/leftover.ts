// Reads what is left of a request that does not match the schema when its wrong parts are left out: enough to say what it
// was probably about, never enough to act on.
import { ExecuteRequest } from '../../schemas/execute-request.ts'
import { OUTCOME_IDS } from '../../schemas/outcome.ts'
import { isObject } from '../lib/json.ts'
import { type Claim, readClaims } from './claims.ts'

/** Each round leaves at least one field out. */
const MAX_ROUNDS = 24
const KNOWN = Object.keys(ExecuteRequest.shape)

type Fields = Readonly<Record<string, unknown>>

/** @returns none where nothing is left. Never throws. */
export function readLeftover(input: unknown): readonly Claim[] {
  if (!isObject(input)) return []
  const given = pick(input as Fields, KNOWN)
  let left: Fields = withLikelyCapability(given)
  for (let i = 0; i < MAX_ROUNDS; i++) {
    const parsed = ExecuteRequest.safeParse(left)
    if (!parsed.success) {
      left = without(
        left,
        parsed.error.issues.map(({ path }) => path[0]),
      )
      continue
    }
    const reading = readClaims(parsed.data)
    if (reading.ok)
      return reading.claims.map((claim) => {
        // Words that came from a capability stand where the caller wrote them.
        const isNamed = claim.pointer === '/intent' && !Object.hasOwn(given, 'intent')
        return isNamed ? { ...claim, pointer: '/capability' } : claim
      })
    left = without(
      left,
      reading.fields.map(({ pointer }) => pointer.split('/')[1]),
    )
  }
  return []
}

const without = (fields: Fields, wrong: readonly (PropertyKey | undefined)[]): Fields =>
  pick(
    fields,
    KNOWN.filter((field) => !wrong.includes(field)),
  )

const pick = (from: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(names.filter((name) => Object.hasOwn(from, name)).map((name) => [name, from[name]]))

/** A capability by nearly its name is that one. Any other says what was wanted as well as words do. */
function withLikelyCapability(fields: Fields): Fields {
  const { capability, ...rest } = fields
  if (typeof capability !== 'string') return rest
  const plain = toLetters(capability)
  const likely = OUTCOME_IDS.find((id) => toLetters(id) === plain)
  if (likely) return { ...rest, capability: likely }
  return 'intent' in rest ? rest : { ...rest, intent: capability.replace(/[-_.]/g, ' ') }
}

const toLetters = (name: string) => name.toLowerCase().replace(/[^a-z]/g, '')
