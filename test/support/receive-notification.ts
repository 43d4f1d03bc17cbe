// #region receive
// What a receiver of A2A notifications does first: is it from the gateway, and meant for this receiver?
import { compactVerify, createRemoteJWKSet } from 'jose'

/** @throws where the signature does not hold, or is for somebody else */
export async function openNotification(request: Request, gateway: string): Promise<unknown> {
  const body = Buffer.from(await request.arrayBuffer())
  const [head = '', , signature = ''] = request.headers.get('a2a-notification-signature')?.split('.') ?? []
  const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', gateway))
  const jws = `${head}.${body.toString('base64url')}.${signature}`
  const { protectedHeader } = await compactVerify(jws, keys, { algorithms: ['EdDSA'] })
  if (protectedHeader.typ !== 'gw-push+jws') throw new Error('not a notification')
  if (protectedHeader['aud'] !== new URL(request.url).origin) throw new Error('meant for somebody else')
  return JSON.parse(body.toString('utf8'))
}
// #endregion
