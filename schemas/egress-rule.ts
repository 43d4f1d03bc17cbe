import { z } from 'zod'
import type { Scope } from './http.ts'

const METHOD = '(?:GET|HEAD|POST|PUT|PATCH|DELETE)'
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?'
const HOST = `(?:${LABEL}\\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?(?::[1-9][0-9]{0,4})?`

/** The four parts of a rule: decision, methods, host, path. The last one is empty where there is none. */
export const RULE_PARTS = new RegExp(
  `^(allow|ask|deny) (\\*|${METHOD}(?:,${METHOD})*) (\\*|${HOST})((?:/[!-~]*)?)$`,
)
/** `*` is one segment and `**` all that follow: neither is a part of a segment. */
const hasWholeStars = (rule: string): boolean =>
  (RULE_PARTS.exec(rule)?.[4] ?? '')
    .split('/')
    .every((segment, at, all) =>
      segment.includes('*') ? segment === '*' || (segment === '**' && at === all.length - 1) : true,
    )

export const MAX_RULE_LENGTH = 1400
/** One line of a policy, such as `allow GET,POST api.github.com/repos/acme/**`. */
export const EgressRule = z
  .string()
  .max(MAX_RULE_LENGTH)
  .regex(
    RULE_PARTS,
    'is no rule: write a decision (allow, ask, deny), methods (GET,POST or *) and host/path with one space between them, such as `allow GET api.github.com/repos/**`',
  )
  .refine(hasWholeStars, 'a star stands for whole segments: `*` for one, `**` at the end for all that follow')
  .describe('`allow|ask|deny`, methods, host and path: `ask POST api.github.com/repos/*/pulls`')

export const MAX_RULES = 64
/** Of all lists of a capability, its parents' included: it is read with every request. */
export const MAX_RULE_CHARACTERS = 16_384
export const charactersOf = (lists: readonly (readonly string[])[]): number =>
  lists.flat().reduce((sum, rule) => sum + rule.length, 0)
/** Read from the first to the last: the first that fits decides, and what none fits is denied. */
export const EgressRules = z
  .array(EgressRule)
  .min(1)
  .max(MAX_RULES)
  .refine(
    (rules) => charactersOf([rules]) <= MAX_RULE_CHARACTERS,
    'are longer than 16384 characters together',
  )
export type EgressRules = z.infer<typeof EgressRules>

/** What a capability covers: each of the lists, its own and those that it was narrowed from, has to allow a request. */
export type RuledScope = Scope & { readonly rules?: readonly EgressRules[] | undefined }
