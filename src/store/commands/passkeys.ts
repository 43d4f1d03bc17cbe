// Passkeys and recovery codes of people, and the challenges that they answer, each once.
import { all, columns, type Command, command, first, insertInto } from '../command.ts'
import type { Millis } from '../model.ts'
import type { ChallengePurpose, Passkey } from '../ports/people.ts'

const passkeyFields = [
  'id',
  'personId',
  'credentialId',
  'publicKey',
  'counter',
  'transports',
  'label',
  'backedUp',
  'createdAt',
  'usedAt',
]
const PASSKEY = columns(passkeyFields)
type PasskeyRow = Omit<Passkey, 'transports' | 'isBackedUp'> & { transports: string; backedUp: number }
const toPasskey = ({ transports, backedUp, ...row }: PasskeyRow): Passkey => ({
  ...row,
  transports: JSON.parse(transports) as string[],
  isBackedUp: backedUp === 1,
})

const INSERT_PASSKEY = insertInto('passkeys', passkeyFields)
/** The row of a passkey. Fails where anybody has it already. */
export function* insertPasskey(p: Passkey): Command<void> {
  yield* all(
    INSERT_PASSKEY,
    p.id,
    p.personId,
    p.credentialId,
    p.publicKey,
    p.counter,
    JSON.stringify(p.transports),
    p.label,
    p.isBackedUp ? 1 : 0,
    p.createdAt,
    p.usedAt,
  )
}

/** One more passkey of the person. False where somebody, be it they, has it already, or it would be too many. */
export const addPasskey = command({ kind: 'transaction', touches: 'access' })(function* (input: {
  passkey: Passkey
  /** The account for the record of it. */
  accountId: string
  maxPasskeys: number
}): Command<boolean> {
  const { passkey, maxPasskeys } = input
  const held = yield* first<{ count: number }>(
    'SELECT count(*) AS count FROM passkeys WHERE person_id = $1',
    passkey.personId,
  )
  if (Number(held?.count ?? 0) >= maxPasskeys) return false
  if (yield* first('SELECT 1 AS one FROM passkeys WHERE credential_id = $1', passkey.credentialId))
    return false
  yield* insertPasskey(passkey)
  return true
})

/** Not of people who may sign in no more. */
export const findPasskey = command({ kind: 'lookup' })(function* (
  credentialId: string,
): Command<Passkey | undefined> {
  const row = yield* first<PasskeyRow>(
    `SELECT ${PASSKEY} FROM passkeys WHERE credential_id = $1
       AND person_id IN (SELECT id FROM people WHERE disabled_at IS NULL)`,
    credentialId,
  )
  return row && toPasskey(row)
})

/** Of one person, newest first; they have few. */
export const listPasskeys = command({ kind: 'read' })(function* (
  personId: string,
): Command<readonly Passkey[]> {
  const rows = yield* all<PasskeyRow>(
    `SELECT ${PASSKEY} FROM passkeys WHERE person_id = $1 ORDER BY id DESC`,
    personId,
  )
  return rows.map(toPasskey)
})

/**
 * Notes a use of the passkey.
 * @param input.counter uses that the authenticator has counted
 * @returns false where it counted more than that before: there are two of it
 */
export const noteAuthenticatorUse = command({ kind: 'statement', touches: 'records' })(function* (input: {
  id: string
  counter: number
  isBackedUp: boolean
  now: Millis
}): Command<boolean> {
  const row = yield* first(
    `UPDATE passkeys SET counter = $1, backed_up = $2, used_at = $3
     WHERE id = $4 AND (counter < $1 OR (counter = 0 AND $1 = 0)) RETURNING id`,
    input.counter,
    input.isBackedUp ? 1 : 0,
    input.now,
    input.id,
  )
  return row !== undefined
})

/** The passkey of the person is gone; the last one stays. */
export const removePasskey = command({ kind: 'transaction', touches: 'access' })(function* (input: {
  id: string
  personId: string
  /** The account for the record of it. */
  accountId: string
  now: Millis
}): Command<'removed' | 'not_found' | 'last'> {
  const held = yield* all<{ id: string }>(
    'SELECT id FROM passkeys WHERE person_id = $1 ORDER BY id FOR UPDATE',
    input.personId,
  )
  if (!held.some(({ id }) => id === input.id)) return 'not_found'
  if (held.length === 1) return 'last'
  yield* all('DELETE FROM passkeys WHERE id = $1', input.id)
  return 'removed'
})

/** These codes, in place of all that the person had. */
export function* putRecoveryCodes(personId: string, hashes: readonly Buffer[], now: Millis): Command<void> {
  yield* all('DELETE FROM recovery_codes WHERE person_id = $1', personId)
  for (const hash of hashes)
    yield* all(
      insertInto('recovery_codes', ['codeHash', 'personId', 'createdAt', 'usedAt']),
      hash,
      personId,
      now,
      null,
    )
}

export const replaceRecoveryCodes = command({ kind: 'transaction', touches: 'access' })(function* (input: {
  personId: string
  /** The account for the record of it. */
  accountId: string
  hashes: readonly Buffer[]
  now: Millis
}): Command<void> {
  yield* putRecoveryCodes(input.personId, input.hashes, input.now)
})

/** Spends the code. @returns whose it was; undefined where it is nobody's, or spent */
export const useRecoveryCode = command({ kind: 'statement', touches: 'access' })(function* (input: {
  hash: Buffer
  now: Millis
}): Command<string | undefined> {
  const row = yield* first<{ personId: string }>(
    `UPDATE recovery_codes SET used_at = $1 WHERE code_hash = $2 AND used_at IS NULL
       AND person_id IN (SELECT id FROM people WHERE disabled_at IS NULL) RETURNING person_id AS "personId"`,
    input.now,
    input.hash,
  )
  return row?.personId
})

/** Codes of the person that nobody has used. */
export const countRecoveryCodes = command({ kind: 'read' })(function* (personId: string): Command<number> {
  const row = yield* first<{ count: number }>(
    'SELECT count(*) AS count FROM recovery_codes WHERE person_id = $1 AND used_at IS NULL',
    personId,
  )
  return Number(row?.count ?? 0)
})

/** A challenge that waits for its answer. Those that waited in vain are forgotten on the way. */
export const insertChallenge = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  hash: Buffer
  purpose: ChallengePurpose
  /** Who alone may answer it; empty: anybody. */
  holder: string
  expiresAt: Millis
  now: Millis
}): Command<void> {
  yield* all('DELETE FROM sign_in_challenges WHERE expires_at < $1', input.now)
  yield* all(
    insertInto('sign_in_challenges', ['hash', 'purpose', 'holder', 'expiresAt']),
    input.hash,
    input.purpose,
    input.holder,
    input.expiresAt,
  )
})

/** Takes the challenge away, whatever comes of the answer. False where it was never made for this, is over, or was answered before. */
export const takeChallenge = command({ kind: 'statement', touches: 'records' })(function* (input: {
  hash: Buffer
  purpose: ChallengePurpose
  holder: string
  now: Millis
}): Command<boolean> {
  const row = yield* first<{ purpose: string; holder: string; expiresAt: number }>(
    `DELETE FROM sign_in_challenges WHERE hash = $1 RETURNING purpose, holder, expires_at AS "expiresAt"`,
    input.hash,
  )
  return (
    row !== undefined &&
    row.purpose === input.purpose &&
    row.holder === input.holder &&
    row.expiresAt > input.now
  )
})
