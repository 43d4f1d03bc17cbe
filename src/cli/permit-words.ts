// A permit in words for a person at a terminal: who prepared it, who has to approve, who said what and from where.
import type { PermitDecision, PermitRecord } from '../../schemas/actions.ts'
import type { ApprovalRule } from '../../schemas/approval.ts'
import type { Row } from './output.ts'

const SAID = { approve: 'approved', refuse: 'refused' } as const
const KINDS = {
  service_key: 'service key',
  person: 'person',
  connection: 'assistant',
  capability: 'program',
} as const
const WAYS = { passkey: 'a passkey', recovery: 'a recovery code', oidc: 'single sign-on' } as const

type Preparer = PermitRecord['prepared_by']

/** `person per_… with a passkey, from 192.0.2.7` */
export const partyInWords = ({ kind, id, method, address }: PermitDecision): string =>
  `${KINDS[kind]} ${id}${method === null ? '' : ` with ${WAYS[method]}`}, from ${address}`

/** `2026-… approved by …` */
export const decisionInWords = (decision: PermitDecision): string =>
  `${decision.at}  ${SAID[decision.decision]} by ${partyInWords(decision)}`

/** `service key key_… of per_…, from 192.0.2.7` */
export function preparerInWords(by: Preparer): string | null {
  if (by === null) return null
  const behind = by.person_id === null || by.person_id === by.id ? '' : ` of person ${by.person_id}`
  return `${KINDS[by.kind]} ${by.id}${behind}${by.address === null ? '' : `, from ${by.address}`}`
}

/** Who has to approve. */
export function ruleInWords(rule: ApprovalRule | null): string | null {
  if (rule === null) return null
  const who = rule.people === 2 ? 'two different people' : 'one person'
  const other = rule.by === 'another' ? ', not whoever prepared it' : ''
  return `${who}${other}${rule.fresh_sign_in ? ', each with a fresh sign-in' : ''}`
}

/** The record as lines of words; what is decided stands below, one line for each word that was said. */
export function permitRow({
  summary: _summary,
  decisions: _decisions,
  prepared_by,
  approval,
  evidence_kept,
  ...record
}: PermitRecord): Row {
  return {
    ...record,
    prepared_by: preparerInWords(prepared_by),
    approval: ruleInWords(approval),
    evidence_kept: evidence_kept ? 'yes' : 'no',
  }
}
