// Invitations: a link that makes somebody a member, or gives a member a new passkey, once.
import { GatewayError } from '../core/errors.ts'
import { newId } from '../lib/ids.ts'
import { Secret } from '../lib/secret.ts'
import { hashToken, newToken, parseToken } from '../lib/tokens.ts'
import type { Invitation, Store } from '../store/ports.ts'

/** An hour: whoever was meant opens it soon, and whoever finds it later finds nothing. */
export const INVITATION_MS = 3_600_000

export interface InvitationParts {
  readonly store: Pick<Store, 'insertInvitation' | 'findInvitation' | 'findFormerInvitation'>
  readonly addresses: { readonly baseUrl: string }
  readonly now: () => number
}

/** Makes one. @returns the link; its token stands behind `#`, which no server and no log sees */
export async function makeInvitation(
  { store, addresses, now }: Pick<InvitationParts, 'store' | 'addresses' | 'now'>,
  wanted: Pick<Invitation, 'accountId' | 'role' | 'admin' | 'name' | 'personId' | 'invitedBy'>,
): Promise<{ invitationId: string; link: Secret<string>; expiresAt: number }> {
  const at = now()
  const token = newToken('inv')
  const invitation: Invitation = {
    id: newId('inv', at),
    ...wanted,
    createdAt: at,
    expiresAt: at + INVITATION_MS,
    usedAt: null,
    revokedAt: null,
  }
  await store.insertInvitation({ invitation, tokenHash: hashToken(token) })
  return {
    invitationId: invitation.id,
    link: new Secret(`${addresses.baseUrl}/console/join#${token}`),
    expiresAt: invitation.expiresAt,
  }
}

/** @throws {GatewayError} invitation_invalid, whatever is wrong with it */
export async function openInvitation(
  { store, now }: Pick<InvitationParts, 'store' | 'now'>,
  token: string,
): Promise<Invitation> {
  if (parseToken(token)?.kind !== 'inv') throw invitationInvalid()
  const hash = hashToken(token)
  const found = await store.findInvitation(hash, now())
  if (!found) throw invitationInvalid(await store.findFormerInvitation(hash))
  return found
}

/** @param of which one it was, where that is known */
export const invitationInvalid = (of?: Pick<Invitation, 'id' | 'accountId'>) =>
  new GatewayError(
    'invitation_invalid',
    'This link was used, has expired or was withdrawn. Ask whoever sent it for a new one.',
    { about: of && { type: 'invitation', id: of.id, accountId: of.accountId } },
  )
