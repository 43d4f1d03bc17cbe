// A permit as people see it: the record that the tool gives, with names, the mandate as it stands, and whether this person may approve it.
import type { PermitRecord } from '../../../../schemas/actions.ts'
import { actionsApprove } from '../../../../tools/actions-approve.ts'
import { type ApproverRefusal, findApproverRefusal } from '../../../actions/approval.ts'
import { isForRole } from '../../../core/roles.ts'
import type { ConsoleParts, SignedInRequest } from '../ports.ts'

/** Somebody who asked or decided, by a name that people know them by. */
export interface Party {
  readonly kind: 'service_key' | 'person' | 'connection' | 'capability'
  readonly id: string
  readonly name: string
}

export interface MandateView {
  readonly mandate_id: string
  readonly purpose: string
  readonly calls: number
  readonly max_calls: number | null
  readonly credits: number
  readonly max_credits: number | null
  readonly is_over: boolean
}

/** Why the person may not approve: what the rule says, that they said so before, or that their role only reads. */
export type WhyNot = Exclude<ApproverRefusal, 'fresh_sign_in'> | 'repeated' | 'role'

export interface PermitView {
  readonly permit: PermitRecord
  readonly asker: Party | null
  /** In the order of `permit.decisions`. */
  readonly deciders: readonly Party[]
  readonly mandate: MandateView | null
  readonly credential_label: string | null
  /** People that are still needed. */
  readonly missing: number
  readonly why_not: WhyNot | null
  readonly may_refuse: boolean
  /** The person has to show first that it is them. */
  readonly needs_fresh: boolean
}

/** Names of the account's people, keys and connections, asked for once a page. */
type Names = (party: { readonly kind: Party['kind']; readonly id: string }) => Promise<Party>

export function namesFor(
  { identity, store }: Pick<ConsoleParts, 'identity' | 'store'>,
  accountId: string,
): Names {
  const known = new Map<string, Promise<string | undefined>>()
  const find = async (kind: Party['kind'], id: string): Promise<string | undefined> => {
    if (kind === 'person') return (await store.getMember(accountId, id))?.person.name
    if (kind === 'connection') return (await identity.connections.get(accountId, id))?.clientName
    if (kind === 'capability') return (await store.findCapabilityById(id, accountId))?.label
    const { items } = await store.listKeys(accountId, { limit: 100 })
    return items.find((key) => key.id === id)?.label
  }
  return async ({ kind, id }) => {
    const finding = known.get(id) ?? find(kind, id)
    known.set(id, finding)
    return { kind, id, name: (await finding) ?? id }
  }
}

/** The permits as the person of the request sees them. */
export async function viewsOf(
  permits: readonly PermitRecord[],
  { console, signedIn }: Pick<SignedInRequest, 'console' | 'signedIn'>,
): Promise<PermitView[]> {
  const nameOf = namesFor(console, signedIn.accountId)
  return Promise.all(permits.map((permit) => viewOf(permit, nameOf, { console, signedIn })))
}

async function viewOf(
  permit: PermitRecord,
  nameOf: Names,
  { console, signedIn }: Pick<SignedInRequest, 'console' | 'signedIn'>,
): Promise<PermitView> {
  const { store, now } = console
  const { accountId } = signedIn
  const { prepared_by: preparer, decisions } = permit
  const [asker, deciders, mandate, credential] = await Promise.all([
    preparer && nameOf(preparer),
    Promise.all(decisions.map(nameOf)),
    store.getMandate(permit.mandate_id, accountId),
    store.getCredential(permit.credential_id, accountId),
  ])
  const approvals = decisions.filter(({ decision }) => decision === 'approve')
  const refusal = findApproverRefusal(
    {
      approval: permit.approval && JSON.stringify(permit.approval),
      preparedPerson: preparer?.person_id ?? null,
    },
    { session: signedIn },
    now(),
  )
  const mayDecide = isForRole(actionsApprove, signedIn.role)
  const saidYes = approvals.some(({ id }) => id === signedIn.personId)
  return {
    permit,
    asker,
    deciders,
    mandate: mandate
      ? {
          mandate_id: mandate.id,
          purpose: mandate.purpose,
          calls: mandate.calls,
          max_calls: mandate.maxCalls,
          credits: mandate.credits,
          max_credits: mandate.maxCredits,
          is_over: mandate.revokedAt !== null || mandate.expiresAt <= now(),
        }
      : null,
    credential_label: credential?.label ?? null,
    missing: Math.max((permit.approval?.people ?? 1) - approvals.length, 0),
    why_not: !mayDecide
      ? 'role'
      : saidYes
        ? 'repeated'
        : refusal === undefined || refusal === 'fresh_sign_in'
          ? null
          : refusal,
    may_refuse: mayDecide,
    needs_fresh: refusal === 'fresh_sign_in',
  }
}
