// An authenticator in software, which does whatever a test wants it to: it answers for other origins, counts backwards, says that nobody
// was there.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

export interface Answering {
  readonly origin: string
  readonly rpId?: string
  readonly type?: string
  /** User present 1, verified 4, eligible for backup 8, backed up 16. */
  readonly flags?: number
  readonly counter?: number
  readonly userHandle?: string | null
}

export interface SoftKey {
  readonly id: string
  /** The answer to `navigator.credentials.create`. */
  create(options: { challenge: string; user: { id: string } }, how: Answering): string
  /** The answer to `navigator.credentials.get`. */
  get(options: { challenge: string }, how: Answering): string
}

const sha256 = (data: Buffer | string) => createHash('sha256').update(data).digest()
const text = (value: Buffer) => value.toString('base64url')

function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(major << 5) | value])
  if (value < 256) return Buffer.from([(major << 5) | 24, value])
  return Buffer.from([(major << 5) | 25, value >> 8, value & 255])
}
const bytes = (value: Buffer) => Buffer.concat([head(2, value.length), value])
const word = (value: string) => Buffer.concat([head(3, value.length), Buffer.from(value)])
const number = (value: number) => (value < 0 ? head(1, -1 - value) : head(0, value))
const map = (...entries: readonly [Buffer, Buffer][]) =>
  Buffer.concat([head(5, entries.length), ...entries.flat()])

/** A new key on P-256. */
export function createSoftKey(): SoftKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = randomBytes(16)
  let handle = ''
  let count = 0

  const clientData = (type: string, challenge: string, { origin }: Answering) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
  function authData({ origin, rpId = new URL(origin).hostname, flags = 5, counter = ++count }: Answering) {
    const tail = Buffer.alloc(5)
    tail.writeUInt8(flags)
    tail.writeUInt32BE(counter, 1)
    return Buffer.concat([sha256(rpId), tail])
  }

  return {
    id: text(id),
    create({ challenge, user }, how) {
      handle = user.id
      const cose = coseOf(publicKey)
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, cose])
      const data = Buffer.concat([authData({ ...how, flags: (how.flags ?? 5) | 64 }), attested])
      return JSON.stringify({
        id: text(id),
        rawId: text(id),
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: text(clientData(how.type ?? 'webauthn.create', challenge, how)),
          attestationObject: text(
            map([word('fmt'), word('none')], [word('attStmt'), map()], [word('authData'), bytes(data)]),
          ),
          transports: ['internal', 'a transport of the future'],
        },
      })
    },
    get({ challenge }, how) {
      const client = clientData(how.type ?? 'webauthn.get', challenge, how)
      const data = authData(how)
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey)
      const userHandle = how.userHandle === undefined ? handle : how.userHandle
      return JSON.stringify({
        id: text(id),
        rawId: text(id),
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: text(client),
          authenticatorData: text(data),
          signature: text(signature),
          ...(userHandle !== null && { userHandle }),
        },
      })
    },
  }
}

function coseOf(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' })
  return map(
    [number(1), number(2)],
    [number(3), number(-7)],
    [number(-1), number(1)],
    [number(-2), bytes(Buffer.from(x, 'base64url'))],
    [number(-3), bytes(Buffer.from(y, 'base64url'))],
  )
}
