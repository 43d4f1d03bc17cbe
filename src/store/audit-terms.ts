// What somebody may use, and how, as events name it: limits in full, settings by name. Nothing in here is secret, and no list gets long.
import type { CredentialSettings } from '../../schemas/credential-settings.ts'
import type { RuledScope } from '../../schemas/egress-rule.ts'
import { formatAtomic } from '../../schemas/money.ts'
import { digestCanonical, toCanonicalJson } from '../lib/canonical-json.ts'
import type { BudgetLimit } from './ports/budgets.ts'

/** Longer values are their digest: it shows that they changed. */
const MAX_VALUE_LENGTH = 64

const digestOf = (value: unknown) => `sha256:${digestCanonical(value)}`

/** Limits as `<amount> <unit>/<period>`, such as `5 credits/day`; of usdc decimals. */
export const budgetList = (budgets: readonly BudgetLimit[]): string[] =>
  budgets.map(
    ({ unit, period, max }) => `${unit === 'usdc' ? formatAtomic(BigInt(max)) : max} ${unit}/${period}`,
  )

/** The rules of a scope, of which each list has to allow a request, as a digest. */
export const rulesDetail = ({ rules }: Pick<RuledScope, 'rules'>): { rules?: string } =>
  rules && rules.length > 0 ? { rules: digestOf(rules) } : {}

/** Settings that are there, as `<name>=<value>`, or its digest. Private targets and approval are members of their own. */
export function settingsList(settings: CredentialSettings): string[] {
  const { unsafe_private_targets: _targets, approval: _approval, ...rest } = settings
  return Object.entries(rest)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const text = toCanonicalJson(value)
      return `${name}=${text.length > MAX_VALUE_LENGTH ? digestOf(value) : text}`
    })
    .toSorted()
}

/** What an edit took away: settings by name, and how many lines of the rules, those that ask a person apart. */
export const droppedDetail = (
  dropped: { readonly settings: readonly string[]; readonly rules: readonly string[] } | undefined,
): { dropped_settings?: string[]; dropped_rules?: number; dropped_ask_rules?: number } => ({
  ...(dropped && dropped.settings.length > 0 && { dropped_settings: [...dropped.settings] }),
  ...(dropped &&
    dropped.rules.length > 0 && {
      dropped_rules: dropped.rules.length,
      dropped_ask_rules: dropped.rules.filter((rule) => rule.startsWith('ask ')).length,
    }),
})
