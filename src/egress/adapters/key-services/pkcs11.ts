// A key in a PKCS#11 token (an HSM, a smart card, SoftHSM): an elliptic key pair whose private half agrees and never leaves. What is
// sealed to it is sealed here, with its public half alone (HPKE); to open it takes one agreement in the token.
import { diffieHellman, generateKeyPairSync } from 'node:crypto'
import type { Pkcs11Key } from '../../../core/config.ts'
import { digestCanonical } from '../../../lib/canonical-json.ts'
import { type KeyService, KeyServiceError, type KeyServiceFailure } from '../../authority/key-service.ts'
import { exportPoint, importPoint, openAgreed, POINT_BYTES, sealBase } from '../../hpke.ts'
import { TokenFault } from './pkcs11/messages.ts'
import { createReopeningToken, type TokenOptions } from './pkcs11/reopening.ts'

const UNFORESEEN = { reason: 'unreachable', code: 'a fault' } as const
const INFO = Buffer.from('agent-gateway record key in a token v1')

/** @throws {KeyServiceError}, and as an import does where `pkcs11js` is not installed */
export async function openPkcs11(key: Pkcs11Key, options: TokenOptions): Promise<KeyService> {
  const name = `The PKCS#11 token ${describe(key)}`
  const token = createReopeningToken(key, options)
  const fail = (reason: KeyServiceFailure, code: string) => new KeyServiceError(reason, name, code)

  function translate(thrown: unknown): KeyServiceError {
    // Anything else that befalls the process says nothing of the record that was to be opened.
    const { reason, code } = thrown instanceof TokenFault ? thrown.failure : UNFORESEEN
    return fail(reason === 'not_installed' ? 'unreachable' : reason, code)
  }
  async function agree(peer: Buffer): Promise<Buffer> {
    try {
      return await token.agree(peer)
    } catch (thrown) {
      throw translate(thrown)
    }
  }
  async function open(): Promise<Buffer> {
    try {
      return await token.open()
    } catch (thrown) {
      if (thrown instanceof TokenFault && thrown.failure.reason === 'not_installed')
        throw Object.assign(new Error('pkcs11js is not installed'), { code: 'ERR_MODULE_NOT_FOUND' })
      throw translate(thrown)
    }
  }
  /** Nothing is sealed to a public key whose private half does not answer in the token. */
  async function check(): Promise<void> {
    const probe = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const agreed = await agree(exportPoint(probe.publicKey))
    if (!agreed.equals(diffieHellman({ privateKey: probe.privateKey, publicKey })))
      throw fail('key_missing', 'the public key beside it belongs to another one')
  }
  async function read(): Promise<{ point: Buffer; publicKey: ReturnType<typeof importPoint> }> {
    const point = await open()
    try {
      return { point, publicKey: importPoint(point) }
    } catch {
      throw fail('key_missing', 'its public key is no point of P-256')
    }
  }

  const { point, publicKey } = await read().catch(async (thrown: unknown) => {
    await token.close()
    throw thrown
  })
  const { x, y } = publicKey.export({ format: 'jwk' })
  // RFC 7638, so that a key is the same one wherever it is named, and a label that is given to another key opens nothing.
  const kid = `pkcs11/${digestCanonical({ crv: 'P-256', kty: 'EC', x, y })}`

  return {
    name,
    owns: (named) => named === kid,
    async newest() {
      await check()
      return kid
    },
    async encrypt(_kid, plaintext, aad) {
      const { enc, ciphertext } = sealBase(publicKey, { info: INFO, aad, plaintext })
      return Buffer.concat([enc, ciphertext])
    },
    async decrypt(_kid, sealed, aad) {
      const enc = sealed.subarray(0, POINT_BYTES)
      try {
        importPoint(enc)
      } catch {
        // The token is not asked: what agrees with points off the curve tells its key, bit by bit.
        throw fail('refused', 'not sealed to a key of this kind')
      }
      const dh = await agree(enc)
      try {
        return openAgreed({ dh, point }, { enc, info: INFO, aad, ciphertext: sealed.subarray(POINT_BYTES) })
      } catch {
        throw fail('refused', 'not what was sealed')
      } finally {
        dh.fill(0)
      }
    },
    close: () => token.close(),
  }
}

function describe({ token, key }: Pkcs11Key): string {
  const named = token.label ?? token.serial ?? token.model ?? token.manufacturer ?? ''
  const parts = [
    ...(key.label === undefined ? [] : [JSON.stringify(key.label)]),
    ...(key.id === undefined ? [] : [`id ${key.id}`]),
  ]
  return `${JSON.stringify(named)} (key ${parts.join(', ')})`
}
