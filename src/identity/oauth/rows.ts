// The rows of the authorization server: found by the SHA-256 of what somebody presents, and sealed (AES-256-GCM), since a client's secret
// or the address of a waiting request is nobody's to read. What is presented is in no row, sealed or not.
import { createCipheriv, createDecipheriv, createHmac, hash, type KeyObject, randomBytes } from 'node:crypto'
import { isObject } from '../../lib/json.ts'
import type { OauthRow, Store } from '../../store/ports.ts'

export type Model =
  'AccessToken' | 'AuthorizationCode' | 'Client' | 'DeviceCode' | 'Grant' | 'Interaction' | 'RefreshToken'

export type Payload = Readonly<Record<string, unknown>>

export interface FoundRow {
  readonly payload: Payload
  /** Milliseconds since the epoch, as are the others. */
  readonly expiresAt: number
  readonly consumedAt: number | null
  readonly answeredAt: number | null
}

export interface RowFacts {
  readonly expiresAt: number
  readonly grantId?: string | undefined
  readonly clientId?: string | undefined
  /** What a person types to find it. */
  readonly userCode?: string | undefined
}

export type RowStore = Pick<
  Store,
  | 'putOauthRow'
  | 'getOauthRow'
  | 'findOauthRow'
  | 'consumeOauthRow'
  | 'answerOauthRow'
  | 'dropOauthRow'
  | 'dropOauthGrant'
>

const IV_BYTES = 12
const TAG_BYTES = 16

const hashOf = (model: Model, id: string): Buffer =>
  Buffer.from(hash('sha256', `${model}:${id}`, 'hex'), 'hex')

export type Rows = ReturnType<typeof createRows>

/** @param key of the rows; a row under another key is not found */
export function createRows({ store, now, key }: { store: RowStore; now: () => number; key: KeyObject }) {
  // A user code is short, so a plain digest of it could be searched through.
  const lookupOf = (userCode: string): Buffer => createHmac('sha256', key).update(userCode).digest()

  function seal(rowHash: Buffer, payload: Payload): string {
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(rowHash)
    const sealed = Buffer.concat([cipher.update(JSON.stringify(payload)), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64')
  }

  /** Undefined where it was sealed by another installation, or is the text of another row. */
  function open({ rowHash, payload }: OauthRow): Payload | undefined {
    const bytes = Buffer.from(payload, 'base64')
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES))
        .setAAD(rowHash)
        .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
      const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()])
      const opened: unknown = JSON.parse(text.toString('utf8'))
      return isObject(opened) ? opened : undefined
    } catch {
      return undefined
    }
  }

  function foundIn(row: OauthRow | undefined): FoundRow | undefined {
    if (!row || row.expiresAt <= now()) return undefined
    const payload = open(row)
    const { expiresAt, consumedAt, answeredAt } = row
    return payload && { payload, expiresAt, consumedAt, answeredAt }
  }

  /** What is presented to find the row is no part of it. */
  const withoutId = ({ jti: _jti, ...payload }: Payload): Payload => payload

  return {
    async put(model: Model, id: string, payload: Payload, facts: RowFacts): Promise<void> {
      const rowHash = hashOf(model, id)
      const { expiresAt, grantId, clientId, userCode } = facts
      await store.putOauthRow({
        rowHash,
        model,
        grantId,
        clientId,
        lookupHash: userCode === undefined ? undefined : lookupOf(userCode),
        payload: seal(rowHash, withoutId(payload)),
        now: now(),
        expiresAt,
      })
    },
    /** Undefined where it has expired, too. */
    async get(model: Model, id: string): Promise<FoundRow | undefined> {
      return foundIn(await store.getOauthRow(hashOf(model, id)))
    },
    async getByUserCode(userCode: string): Promise<FoundRow | undefined> {
      return foundIn(await store.findOauthRow(lookupOf(userCode)))
    },
    /** @returns whether it is the first use */
    consume: (model: Model, id: string): Promise<boolean> =>
      store.consumeOauthRow({ rowHash: hashOf(model, id), now: now() }),
    /** @returns whether nobody had answered before, and it has not expired */
    async answer(model: Model, id: string, payload: Payload, grantId: string | undefined): Promise<boolean> {
      const rowHash = hashOf(model, id)
      return store.answerOauthRow({
        rowHash,
        grantId,
        payload: seal(rowHash, withoutId(payload)),
        now: now(),
      })
    },
    /** As `answer`, of a row that is known by its user code alone. */
    async answerByUserCode(
      userCode: string,
      payload: Payload,
      grantId: string | undefined,
    ): Promise<boolean> {
      const row = await store.findOauthRow(lookupOf(userCode))
      if (!row) return false
      const rowHash = Buffer.from(row.rowHash)
      return store.answerOauthRow({
        rowHash,
        grantId,
        payload: seal(rowHash, withoutId(payload)),
        now: now(),
      })
    },
    drop: (model: Model, id: string): Promise<void> => store.dropOauthRow(hashOf(model, id)),
    dropGrant: (grantId: string): Promise<void> => store.dropOauthGrant(grantId),
  }
}
