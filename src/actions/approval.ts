// Who may approve a permit. Keys are not people: nobody can tell in whose hand one is, so that a rule that asks for somebody else, for two,
// or for a fresh sign-in is met by people who signed in, and by nobody else. An assistant never approves: it would be told what to say.
import { type ApprovalRule, needsPeople, PLAIN_RULE, strictest } from '../../schemas/approval.ts'
import type { Operator } from '../core/caller.ts'
import { isFresh } from '../core/roles.ts'
import type { Credential, Decider, Mandate, Permit } from '../store/ports.ts'

/** @returns what a rule says beyond that somebody approves; null where that is nothing */
export const saidRule = (rule: ApprovalRule | null | undefined): ApprovalRule | null =>
  rule && needsPeople(rule) ? rule : null

/**
 * The rule of a permit: what its mandate and its credential say, the stricter of both. Undefined where nobody is asked.
 * @param decision of the credential's rules about this request
 */
export function ruleFor(
  mandate: Pick<Mandate, 'requiresApproval' | 'approval'>,
  { settings }: Pick<Credential, 'settings'>,
  decision: 'allow' | 'ask',
): ApprovalRule | undefined {
  if (!mandate.requiresApproval && decision === 'allow') return undefined
  return strictest(mandate.approval ?? PLAIN_RULE, settings.approval ?? PLAIN_RULE)
}

/** The rule as a row of a permit has it. */
export const readRule = ({ approval }: Pick<Permit, 'approval'>): ApprovalRule =>
  approval === null ? PLAIN_RULE : (JSON.parse(approval) as ApprovalRule)

/** Why somebody may not approve. */
export type ApproverRefusal = 'assistant' | 'person_required' | 'prepared_it' | 'fresh_sign_in'

/** @returns why this caller may not approve this permit; undefined where they may. Who approved before, the store knows. */
export function findApproverRefusal(
  permit: Pick<Permit, 'approval' | 'preparedPerson'>,
  { session, connection }: Pick<Operator, 'session' | 'connection'>,
  now: number,
): ApproverRefusal | undefined {
  if (connection) return 'assistant'
  const rule = readRule(permit)
  if (!needsPeople(rule)) return undefined
  if (!session) return 'person_required'
  if (rule.by === 'another' && permit.preparedPerson === session.personId) return 'prepared_it'
  return rule.fresh_sign_in && !isFresh(session, now) ? 'fresh_sign_in' : undefined
}

/** Whoever decides, as it is kept beside the permit. */
export const deciderOf = (caller: Operator): Decider => ({
  ...partyOf(caller),
  method: caller.session?.method ?? null,
  sessionId: caller.session?.sessionId ?? null,
  address: caller.address,
})

/** Whoever acts, by kind and id. */
export const partyOf = ({
  id,
  session,
  connection,
}: Pick<Operator, 'id' | 'session' | 'connection'>): Pick<Decider, 'kind' | 'id'> => ({
  kind: session ? 'person' : connection ? 'connection' : 'service_key',
  id,
})
