// What the rules of a capability and of its credential say of one request: the strictest word of all of them.
import type { CredentialSettings } from '../../../schemas/credential-settings.ts'
import type { RuledScope } from '../../../schemas/egress-rule.ts'
import { GatewayError } from '../../core/errors.ts'
import type { Credential } from '../../store/ports.ts'
import { type AskedTarget, type PreparedRequest, SOURCE_METHOD, unreadSource } from '../request.ts'
import { createSpellings, findDeadRule, judgeRules, parseRule, type Rule } from './rules.ts'

export interface RuleHolders {
  readonly capability?: { readonly scope: RuledScope } | undefined
  readonly credential: Pick<Credential, 'settings'>
}

export interface Judgement {
  readonly decision: 'allow' | 'ask'
  /** The rule that wants a person asked; undefined where the credential does for every request. */
  readonly rule: string | undefined
}

/** Whether there is anything to judge by. */
export const hasRules = ({ capability, credential: { settings } }: RuleHolders): boolean =>
  settings.rules !== undefined || settings.approval !== undefined || capability?.scope.rules !== undefined

/**
 * @returns `ask` where any of them asks a person, about the request, another method of it or a source that it names
 * @throws {GatewayError} scope_denied where any of them denies; header_forbidden where there are rules, and a source that nobody can judge
 */
export function judgeRequest(
  {
    target,
    method,
    sources,
    otherMethods,
  }: Pick<PreparedRequest, 'target' | 'method' | 'sources' | 'otherMethods'>,
  { capability, credential: { settings } }: RuleHolders,
): Judgement {
  const lists: RuleLists = [
    ...(capability?.scope.rules ?? []).map((rules) => ['capability', rules] as const),
    ...(settings.rules ? [['credential', settings.rules] as const] : []),
  ]
  let asking: Judgement | undefined = settings.approval && { decision: 'ask', rule: undefined }
  const own = judgeTarget({ target, method }, lists)
  asking ??= own
  for (const other of otherMethods ?? []) {
    const judged = judgeTarget({ target, ...other }, lists)
    asking ??= judged
  }
  for (const { header, target: source } of lists.length === 0 ? [] : (sources ?? [])) {
    if (!source) throw unreadSource(header)
    const read = judgeTarget({ target: source, method: SOURCE_METHOD, header }, lists)
    asking ??= read
  }
  return asking ?? { decision: 'allow', rule: undefined }
}

type RuleLists = readonly (readonly [holder: 'capability' | 'credential', rules: readonly string[]])[]

/** @returns the first word that asks a person */
function judgeTarget(asked: AskedTarget, lists: RuleLists): Judgement | undefined {
  const { method } = asked
  const { host, port, path } = asked.target
  const isPath = createSpellings(path)
  let asking: Judgement | undefined
  for (const [holder, rules] of lists) {
    const { decision, rule } = judgeRules(parsedRules(rules), { host, port, path, method }, isPath)
    if (decision === 'deny') throw ruledOut(holder, rule, rules, asked)
    if (decision === 'ask') asking ??= { decision, rule }
  }
  return asking
}

/** The rows that lists stand in are remembered between calls, and a list of a capability is its own for as long as it lives. */
const parsed = new WeakMap<readonly string[], readonly Rule[]>()
function parsedRules(rules: readonly string[]): readonly Rule[] {
  const known = parsed.get(rules)
  if (known) return known
  const made = rules.map(parseRule)
  parsed.set(rules, made)
  return made
}

function ruledOut(
  holder: 'capability' | 'credential',
  rule: string | undefined,
  rules: readonly string[],
  { method, header, by }: AskedTarget,
): GatewayError {
  const what =
    header === undefined
      ? by === undefined
        ? 'this request'
        : `this request as ${method}, which its ${by} names`
      : `what the request header ${header} names, which the service reads (${SOURCE_METHOD})`
  return new GatewayError(
    'scope_denied',
    rule === undefined
      ? `No rule of this ${holder} allows ${what}. Its rules are in \`rules\`; ask the operator for one that does.`
      : `A rule of this ${holder} denies ${what}. Ask the operator if that should not be so.`,
    {
      reason: `${holder}_rule`,
      extras: {
        refused_by: holder,
        rules: [...rules],
        ...(rule !== undefined && { rule }),
        ...(header !== undefined && { header }),
      },
    },
  )
}

/** @returns 403; a person has to see the request first, and this way in holds none until they did */
export const personRequired = (rule: string | undefined): GatewayError =>
  new GatewayError(
    'scope_denied',
    rule === undefined
      ? 'Every request with this credential is approved by a person first. Ask the operator to prepare a permit for it: gateway.actions.prepare.'
      : 'A person has to approve this request first. Ask the operator to prepare a permit for it: gateway.actions.prepare.',
    {
      reason: 'approval_required',
      extras: { refused_by: 'credential', ...(rule !== undefined && { rule }) },
    },
  )

/**
 * @param pointer JSON Pointer of the list
 * @throws {GatewayError} input_invalid for a rule that no request could fit: whoever wrote it means something else
 */
export function refuseDeadRule(
  rules: readonly string[],
  pointer: string,
  { encoded_slash }: Pick<CredentialSettings, 'encoded_slash'>,
): void {
  const dead = findDeadRule(rules, { allowEncodedSlash: encoded_slash })
  if (!dead) return
  const field = { pointer: `${pointer}/${dead.at}`, message: dead.message }
  throw new GatewayError('input_invalid', `${field.pointer}: ${field.message}.`, {
    extras: { fields: [field] },
  })
}
