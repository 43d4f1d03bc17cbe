// One private key in one token, through the library of its maker. Everything here blocks, for as long as the token takes.
import type { Pkcs11Key } from '../../../../core/config.ts'
import { POINT_BYTES } from '../../../hpke.ts'
import type { Attribute, Cryptoki, Handle, Pkcs11Package } from './cryptoki.ts'
import { type Failure, TokenFault } from './messages.ts'

/** OBJECT IDENTIFIER prime256v1. */
const P256 = '06082a8648ce3d030107'
const SHARED_BYTES = 32

const FAILURES: Readonly<Record<string, Failure['reason']>> = {
  CKR_PIN_INCORRECT: 'denied',
  CKR_PIN_INVALID: 'denied',
  CKR_PIN_LEN_RANGE: 'denied',
  CKR_PIN_EXPIRED: 'denied',
  CKR_PIN_LOCKED: 'denied',
  CKR_USER_PIN_NOT_INITIALIZED: 'denied',
  CKR_KEY_FUNCTION_NOT_PERMITTED: 'denied',
  CKR_KEY_TYPE_INCONSISTENT: 'key_missing',
  // A token that never gives an agreed secret out, as some in FIPS mode, will not do so in a moment.
  CKR_ATTRIBUTE_SENSITIVE: 'key_missing',
  CKR_ATTRIBUTE_VALUE_INVALID: 'key_missing',
  CKR_FUNCTION_NOT_SUPPORTED: 'key_missing',
  CKR_KEY_UNEXTRACTABLE: 'key_missing',
  CKR_MECHANISM_INVALID: 'key_missing',
  CKR_MECHANISM_PARAM_INVALID: 'key_missing',
  CKR_TEMPLATE_INCONSISTENT: 'key_missing',
}

export interface Token {
  /** The public key as an uncompressed point. */
  readonly point: Buffer
  /** @param peer an uncompressed point on the curve. @returns the x-coordinate that both agree on */
  agree(peer: Buffer): Buffer
}

/** @throws {TokenFault} */
export function openToken(
  p: Pkcs11Package,
  { modulePath, token, key }: Pick<Pkcs11Key, 'modulePath' | 'token' | 'key'>,
  pin: string,
): Token {
  const cryptoki = loadModule(p, modulePath)
  return ask(() => {
    const session = cryptoki.C_OpenSession(findSlot(p, cryptoki, token), p.CKF_SERIAL_SESSION)
    cryptoki.C_Login(session, p.CKU_USER, pin)

    function findOne(keyClass: number, named: readonly Attribute[], what: string): Handle {
      cryptoki.C_FindObjectsInit(session, [
        { type: p.CKA_CLASS, value: keyClass },
        { type: p.CKA_KEY_TYPE, value: p.CKK_EC },
        ...named,
      ])
      const [found, another] = cryptoki.C_FindObjects(session, 2)
      cryptoki.C_FindObjectsFinal(session)
      if (!found) throw new TokenFault('key_missing', `no ${what} of an elliptic curve is so named`)
      if (another) throw new TokenFault('key_missing', `several ${what}s are so named: give the id, too`)
      return found
    }
    const read = (object: Handle, type: number): Buffer => {
      const [attribute] = cryptoki.C_GetAttributeValue(session, object, [{ type }])
      return Buffer.from(attribute?.value ?? [])
    }

    const privateKey = findOne(
      p.CKO_PRIVATE_KEY,
      [
        ...(key.label === undefined ? [] : [{ type: p.CKA_LABEL, value: key.label }]),
        ...(key.id === undefined ? [] : [{ type: p.CKA_ID, value: Buffer.from(key.id, 'hex') }]),
      ],
      'private key',
    )
    const isTrue = (type: number) => read(privateKey, type)[0] === 1
    if (read(privateKey, p.CKA_EC_PARAMS).toString('hex') !== P256)
      throw new TokenFault('key_missing', 'the key must be of the curve P-256')
    if (!isTrue(p.CKA_DERIVE)) throw new TokenFault('key_missing', 'the key must allow derivation')
    // What may be copied out of the token is no better there than in a file, and looks as if it were.
    if (isTrue(p.CKA_EXTRACTABLE) || !isTrue(p.CKA_SENSITIVE))
      throw new TokenFault('key_missing', 'the key must be sensitive and not extractable')
    // Of the two halves, tokens give the point with the public one alone; they share their id.
    const id = { type: p.CKA_ID, value: read(privateKey, p.CKA_ID) }
    const publicKey = findOne(p.CKO_PUBLIC_KEY, [id], 'public key')
    // In an OCTET STRING, or as it is: libraries differ.
    const point = read(publicKey, p.CKA_EC_POINT).subarray(-POINT_BYTES)

    return {
      point,
      agree: (peer) =>
        ask(() => {
          const parameter = { type: p.CK_PARAMS_EC_DH, kdf: p.CKD_NULL, publicData: peer }
          const shared = cryptoki.C_DeriveKey(
            session,
            { mechanism: p.CKM_ECDH1_DERIVE, parameter },
            privateKey,
            [
              { type: p.CKA_CLASS, value: p.CKO_SECRET_KEY },
              { type: p.CKA_KEY_TYPE, value: p.CKK_GENERIC_SECRET },
              { type: p.CKA_VALUE_LEN, value: SHARED_BYTES },
              { type: p.CKA_TOKEN, value: false },
              { type: p.CKA_SENSITIVE, value: false },
              { type: p.CKA_EXTRACTABLE, value: true },
            ],
          )
          try {
            return read(shared, p.CKA_VALUE)
          } finally {
            cryptoki.C_DestroyObject(session, shared)
          }
        }),
    }
  })
}

function loadModule(p: Pkcs11Package, path: string): Cryptoki {
  const cryptoki = new p.PKCS11()
  try {
    cryptoki.load(path)
  } catch {
    throw new TokenFault('key_missing', `${path} cannot be loaded as a PKCS#11 library`)
  }
  ask(() => cryptoki.C_Initialize())
  return cryptoki
}

/** @throws {TokenFault} unless one token is meant, and its PIN may be tried */
function findSlot(p: Pkcs11Package, cryptoki: Cryptoki, wanted: Pkcs11Key['token']): Handle {
  const unread: Failure[] = []
  const slots = cryptoki.C_GetSlotList(true).flatMap((slot) => {
    try {
      const info = ask(() => cryptoki.C_GetTokenInfo(slot))
      const isMeant =
        isSame(wanted.label, info.label) &&
        isSame(wanted.serial, info.serialNumber) &&
        isSame(wanted.manufacturer, info.manufacturerID) &&
        isSame(wanted.model, info.model)
      return isMeant ? [{ slot, flags: info.flags }] : []
    } catch (thrown) {
      // A card that nobody knows in another reader is no reason to go without this one.
      if (thrown instanceof TokenFault) unread.push(thrown.failure)
      return []
    }
  })
  const [found, another] = slots
  const others = unread[0] ? `, and one says ${unread[0].code}` : ''
  if (!found) throw new TokenFault('unreachable', `no token in a slot is so named${others}`)
  if (another) throw new TokenFault('key_missing', 'several tokens are so named: give the serial, too')
  if ((found.flags & p.CKF_USER_PIN_LOCKED) !== 0)
    throw new TokenFault('denied', 'the PIN of the token is locked')
  // A service that is started again and again with a wrong PIN locks the token for everybody, and every secret under it.
  if ((found.flags & (p.CKF_USER_PIN_COUNT_LOW | p.CKF_USER_PIN_FINAL_TRY)) !== 0)
    throw new TokenFault(
      'denied',
      'a wrong PIN was tried last: log in by hand with the right one, and see that it is the one in the file',
    )
  return found.slot
}

const isSame = (wanted: string | undefined, is: string) =>
  wanted === undefined || wanted === is.replace(/[\0 ]+$/, '')

/** What a library throws names its code, and holds more than that. */
function ask<T>(step: () => T): T {
  try {
    return step()
  } catch (thrown) {
    if (thrown instanceof TokenFault) throw thrown
    const [code = 'an unknown fault'] = /CKR_\w+/.exec(thrown instanceof Error ? thrown.message : '') ?? []
    throw new TokenFault(FAILURES[code] ?? 'unreachable', code)
  }
}
