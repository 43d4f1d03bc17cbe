// Names the members of an input that do not fit, for whoever has to mend it. A hint: the verdict itself is that of the whole schema.
import { createSchemaChecker } from '../../lib/json-schema.ts'
import { isObject } from '../../lib/json.ts'

export interface Misfit {
  readonly pointer: string
  readonly message: string
}

const MAX_MISFITS = 8
const MAX_MEMBERS = 32
/** Far less than the verdict is given: this is done for a caller whose input is refused already. */
const STEPS_A_MEMBER = 500

/**
 * Members that are missing, not declared, or do not fit their own part of the schema; empty where the reason lies elsewhere.
 * Parts with patterns are left out, because patterns have a budget of their own that would count once for each member.
 * @param at JSON pointer of the value
 */
export function findMisfits(schema: unknown, value: unknown, at = ''): Misfit[] {
  if (!isObject(schema) || !isObject(value)) return []
  const declared = isObject(schema['properties']) ? schema['properties'] : {}
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const missing = required
    .filter((name): name is string => typeof name === 'string' && !Object.hasOwn(value, name))
    .map((name) => misfit(at, name, 'is required'))
  const misfits = Object.entries(value)
    .slice(0, MAX_MEMBERS)
    .flatMap(([name, member]) => {
      if (!Object.hasOwn(declared, name))
        return schema['additionalProperties'] === false ? [misfit(at, name, 'is not known')] : []
      return fits(declared[name], member, schema) ? [] : [misfit(at, name, 'does not fit')]
    })
  return [...missing, ...misfits].slice(0, MAX_MISFITS)
}

function fits(part: unknown, value: unknown, { $defs }: Readonly<Record<string, unknown>>): boolean {
  if (!isObject(part)) return part !== false
  const alone = $defs === undefined ? part : { ...part, $defs }
  if (/"pattern(?:Properties)?"/.test(JSON.stringify(alone))) return true
  const verdict = createSchemaChecker(alone).check(value, STEPS_A_MEMBER)
  return verdict.ok || verdict.reason !== 'invalid'
}

const misfit = (at: string, name: string, message: string): Misfit => ({
  pointer: `${at}/${name.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1')}`,
  message,
})
