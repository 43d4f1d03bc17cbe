// Requests that are signed: S3 against a server of its kind, behind a check that recomputes each signature from what arrived, by another
// implementation than ours; HMAC against an upstream that recomputes it.
import { createHash, createHmac } from 'node:crypto'
import { mkdtemp } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestGateway, type TestGateway, UPSTREAM_HOST } from '../support/gateway.ts'
import { awayFromMidnight } from '../support/midnight.ts'
import { reservePort } from '../support/oauth-server.ts'
import { removeFolder } from '../support/remove-folder.ts'

const KEYS = { access_key_id: 'AKIAGATEWAYTEST', secret_access_key: 'wJalrXUtnFEMI-the-secret-of-this-test' }
interface Aws4 {
  sign(request: Record<string, unknown>, keys: Record<string, string>): { headers: Record<string, string> }
}
interface S3Server {
  configureBuckets(): Promise<unknown>
  callback(): (req: IncomingMessage, res: ServerResponse) => void
}
// The package has no types, and makes its accounts by a function that it does not export by name.
const load = createRequire(import.meta.url)
const aws4 = load('aws4') as Aws4
const S3rver = load('s3rver') as new (options: Record<string, unknown>) => S3Server
const { DUMMY_ACCOUNT } = load('s3rver/lib/models/account') as {
  DUMMY_ACCOUNT: { createKeyPair(id: string, secret: string): void }
}

/** As S3 does: what was signed is put together from the request as it arrived. */
function isSignedBy(keys: typeof KEYS, { method, url, headers }: IncomingMessage): boolean {
  const given = headers.authorization ?? ''
  const names = /SignedHeaders=([^,]+)/.exec(given)?.[1]?.split(';') ?? []
  const signed = Object.fromEntries(names.map((name) => [name, String(headers[name])]))
  const { headers: again } = aws4.sign(
    { method, path: url, host: headers.host, headers: signed, service: 's3', region: 'us-east-1' },
    { accessKeyId: keys.access_key_id, secretAccessKey: keys.secret_access_key },
  )
  return names.includes('x-amz-content-sha256') && again['Authorization'] === given
}

describe('a request to S3', () => {
  let gw: TestGateway
  let directory: string
  let s3Url: (path: string) => string
  let closeS3: () => void
  beforeAll(async () => {
    const { server, port } = await reservePort()
    gw = await startTestGateway({ ports: [port] })
    server.setSecureContext(await gw.ca.leaf(UPSTREAM_HOST))
    directory = await mkdtemp(join(tmpdir(), 's3-'))
    DUMMY_ACCOUNT.createKeyPair(KEYS.access_key_id, KEYS.secret_access_key)
    const s3 = new S3rver({
      silent: true,
      directory,
      vhostBuckets: false,
      configureBuckets: [{ name: 'photos', configs: [] }],
    })
    await s3.configureBuckets()
    const serve = s3.callback()
    server.on('request', (req: IncomingMessage, res: ServerResponse) => {
      if (isSignedBy(KEYS, req)) return serve(req, res)
      res.writeHead(403, { 'content-type': 'application/xml' })
      res.end(
        `<Error><Code>SignatureDoesNotMatch</Code><SignatureProvided>${req.headers.authorization}</SignatureProvided></Error>`,
      )
    })
    closeS3 = () => {
      server.closeAllConnections()
      server.close()
    }
    s3Url = (path) => `https://${UPSTREAM_HOST}:${port}${path}`
  })
  afterAll(async () => {
    await gw.close()
    closeS3()
    await removeFolder(directory)
  })
  const kind = { type: 'aws_sigv4', region: 'us-east-1', service: 's3' }
  const grantTo = (parts: Record<string, string>) =>
    gw.grant({ credential: { secret: undefined, parts, settings: { kind } } })

  it.each([
    ['a plain name', '/photos/cat.txt'],
    ['escapes in its name', '/photos/a%20cat%20%C3%A9.txt'],
    ['characters that S3 escapes and URLs do not', "/photos/cats!'(1)*.txt"],
  ])('is signed as the server wants it: %s', async (_, path) => {
    const { capability } = await grantTo(KEYS)
    const body = 'a photo of a cat'
    const put = await gw.fetch(capability, {
      method: 'PUT',
      url: s3Url(path),
      body,
      headers: { 'content-type': 'text/plain' },
    })
    expect(put.body.upstream?.status).toBe(200)
    const read = await gw.fetch(capability, { url: s3Url(path) })
    expect(read.body.upstream).toMatchObject({ status: 200, body })
    const list = await gw.fetch(capability, { url: s3Url('/photos?list-type=2&prefix=a%20&delimiter=%2F') })
    expect(list.body.upstream?.status).toBe(200)
  })

  it('is refused by the server with another secret, and the agent is told', async () => {
    const { capability } = await grantTo({ ...KEYS, secret_access_key: 'another-secret-than-that-one' })
    const { status, body } = await gw.fetch(capability, { url: s3Url('/photos?list-type=2') })
    expect(status).toBe(200)
    expect(body.upstream.status).toBe(403)
    expect(body.upstream.body).toContain('SignatureDoesNotMatch')
  })

  it('names the digest of the bytes that arrive', async () => {
    const { capability } = await grantTo(KEYS)
    gw.upstream.respond(({ headers, body }, res) => {
      const digest = createHash('sha256').update(body).digest('hex')
      res.end(
        JSON.stringify(headers.some(([name, value]) => name === 'x-amz-content-sha256' && value === digest)),
      )
    })
    const asked = {
      method: 'PUT',
      url: gw.url('/photos/raw'),
      body_base64: Buffer.from([0, 255, 10]).toString('base64'),
    }
    expect((await gw.fetch(capability, asked)).body.upstream.body).toBe('true')
  })

  it('gives its credit back where its query could be read in two ways', async () => {
    const { capability } = await grantTo(KEYS)
    const balance = await gw.balance()
    const { body } = await gw.fetch(capability, { url: s3Url('/photos?prefix=a+b') })
    expect(body).toMatchObject({ code: 'target_invalid', credits: { charged: 0 } })
    expect(await gw.balance()).toBe(balance)
  })

  it('and its signature come back in no answer that was served', async () => {
    const { capability } = await grantTo(KEYS)
    gw.upstream.respond(({ headers }, res) => res.end(JSON.stringify(headers)))
    expect((await gw.fetch(capability, { url: gw.url('/echo') })).body.code).toBe('secret_reflected')
    gw.upstream.respond((_, res) => res.end(KEYS.secret_access_key))
    expect((await gw.fetch(capability, { url: gw.url('/echo') })).body.code).toBe('secret_reflected')
    gw.upstream.respond((_, res) => res.end(KEYS.access_key_id))
    expect((await gw.fetch(capability, { url: gw.url('/echo') })).status).toBe(200)
  })

  it('and its signature come back in no answer that was served, in the midst of other letters neither', async () => {
    const { capability } = await grantTo(KEYS)
    gw.upstream.respond(({ headers }, res) => {
      const given = headers.find(([name]) => name === 'authorization')?.[1] ?? ''
      res.end(`trace_v1_${/Signature=(.*)/.exec(given)?.[1]}_end`)
    })
    expect((await gw.fetch(capability, { url: gw.url('/echo') })).body.code).toBe('secret_reflected')
  })

  describe('that the upstream refuses', () => {
    const signatureOf = (headers: readonly (readonly [string, string])[]) =>
      /Signature=([0-9a-f]{64})/.exec(headers.find(([name]) => name === 'authorization')?.[1] ?? '')?.[1] ??
      ''
    /** As S3 and MinIO answer, with whatever else they show. */
    const refuseWith = (more: (signature: string) => string) =>
      gw.upstream.respond(({ headers }, res) => {
        const signature = signatureOf(headers)
        const signed = createHash('sha256').update('the canonical request').digest('hex')
        res.writeHead(403, { 'content-type': 'application/xml' })
        res.end(
          `<Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>${KEYS.access_key_id}</AWSAccessKeyId>` +
            `<StringToSign>AWS4-HMAC-SHA256\n20261122T000000Z\n20261122/us-east-1/s3/aws4_request\n${signed}</StringToSign>` +
            `<SignatureProvided>${signature}</SignatureProvided><CanonicalRequest>GET\n/x\n\nhost:s3\n\nhost\n${signed}` +
            `</CanonicalRequest>${more(signature)}</Error>`,
        )
      })

    it('is shown with the signature that came with it, and what was signed', async () => {
      const { capability } = await grantTo(KEYS)
      refuseWith(() => '')
      const { status, body } = await gw.fetch(capability, { url: gw.url('/x') })
      expect(status).toBe(200)
      expect(body.upstream.body).toContain('<SignatureProvided>')
    })

    it.each<[string, (signature: string) => string]>([
      ['as it is', (signature) => signature],
      ['in capitals, in a query', (signature) => `?X-Amz-Signature=${signature.toUpperCase()}&a=1`],
      ['in base64', (signature) => Buffer.from(signature, 'hex').toString('base64')],
      [
        'in base64 in a JSON string',
        (signature) =>
          JSON.stringify(Buffer.from(signature, 'hex').toString('base64')).replaceAll('/', '\\/'),
      ],
    ])('does not show the signature of another request of the credential, %s', async (_, show) => {
      const { capability } = await grantTo(KEYS)
      let other = ''
      gw.upstream.respond(({ headers }, res) => {
        other = signatureOf(headers)
        res.end('{}')
      })
      expect((await gw.fetch(capability, { url: gw.url('/first') })).status).toBe(200)
      expect(other).toHaveLength(64)
      refuseWith(() => `<Log>${show(other)}</Log>`)
      expect((await gw.fetch(capability, { url: gw.url('/x') })).body.code).toBe('secret_reflected')
    })

    it.each(['hex', 'base64'] as const)(
      'does not show a key that signs for the day, in %s',
      async (encoding) => {
        await awayFromMidnight()
        const { capability } = await grantTo(KEYS)
        const day = new Date().toISOString().slice(0, 10).replaceAll('-', '')
        let key: string | Buffer = `AWS4${KEYS.secret_access_key}`
        for (const word of [day, 'us-east-1', 's3', 'aws4_request']) {
          key = createHmac('sha256', key).update(word).digest()
          const shown = key.toString(encoding)
          refuseWith(() => `<SigningKey>${shown}</SigningKey>`)
          expect((await gw.fetch(capability, { url: gw.url('/x') })).body.code).toBe('secret_reflected')
        }
      },
    )
  })

  it.each([
    ['the query alone: it opens other paths and methods', '{query}', 502],
    ['a time alone: it opens everything', '{timestamp}', 502],
    ['all of the request: it is shown back', '{timestamp}{method}{target}{body}', 200],
  ])('is refused with a signature over %s', async (_, message, status) => {
    const { capability } = await gw.grant({
      credential: {
        secret: undefined,
        parts: { key: 'a-key-of-the-exchange' },
        settings: {
          kind: {
            type: 'hmac',
            algorithm: 'sha256',
            encoding: 'hex',
            message,
            headers: { 'x-signature': '{signature}' },
          },
        },
      },
    })
    gw.upstream.respond(({ headers }, res) =>
      res.writeHead(401).end(JSON.stringify({ 'invalid signature': Object.fromEntries(headers) })),
    )
    expect((await gw.fetch(capability, { url: gw.url('/api/order?a=1') })).status).toBe(status)
  })

  it('is shown with its kind and its public key id, without the secret', async () => {
    await grantTo(KEYS)
    const { body, text } = await gw.rest('GET', '/v1/egress/credentials')
    expect(body.credentials[0]).toMatchObject({
      header: 'authorization',
      scheme: 'AWS4-HMAC-SHA256',
      settings: { kind, parts: { access_key_id: 'public', secret_access_key: 'secret' } },
    })
    expect(text).not.toContain(KEYS.secret_access_key)
  })

  it.each(['hex', 'base64'] as const)(
    'has its key withheld in any form of its bytes, where that is stored in %s',
    async (encoding) => {
      const bytes = createHash('sha256').update(encoding).digest()
      const { capability, credentialId } = await gw.grant({
        credential: {
          secret: undefined,
          parts: { key: `whsec_${bytes.toString(encoding)}` },
          settings: {
            kind: {
              type: 'hmac',
              algorithm: 'sha256',
              encoding: 'hex',
              key_encoding: encoding,
              key_prefix: 'whsec_',
              message: '{method}{target}{body}',
              headers: { 'x-signature': '{signature}' },
            },
          },
        },
      })
      const shown = [bytes, bytes.toString('hex'), bytes.toString('base64url'), JSON.stringify([...bytes])]
      for (const body of [...shown, bytes.subarray(4, 21).toString('base64')]) {
        gw.upstream.respond((_request, res) => res.end(body))
        const answer = await gw.fetch(capability, { url: gw.url('/api/order') })
        expect(answer.body).toMatchObject({ code: 'secret_reflected' })
      }
      gw.upstream.respond((_request, res) => res.end(createHash('sha256').update(bytes).digest('hex')))
      expect((await gw.fetch(capability, { url: gw.url('/api/order') })).status).toBe(200)

      // Upstreams take it on until somebody withdraws it there.
      const next = createHash('sha256').update('another').digest()
      const rotated = await gw.rest('POST', `/v1/egress/credentials/${credentialId}/rotate`, {
        parts: { key: `whsec_${next.toString(encoding)}` },
      })
      expect(rotated.status).toBe(200)
      for (const body of shown) {
        gw.upstream.respond((_request, res) => res.end(body))
        const answer = await gw.fetch(capability, { url: gw.url('/api/order') })
        expect(answer.body).toMatchObject({ code: 'secret_reflected' })
      }
    },
  )

  it('can be signed for an exchange: parameters are added, and the upstream recomputes what it got', async () => {
    const key = 'a-key-of-the-exchange'
    const { capability } = await gw.grant({
      credential: {
        secret: undefined,
        parts: { key, api_key: 'public-key-of-mine' },
        settings: {
          parts: { key: 'secret', api_key: 'public' },
          kind: {
            type: 'hmac',
            algorithm: 'sha256',
            encoding: 'hex',
            timestamp: 'milliseconds',
            message: '{method}{target}{body}',
            headers: { 'x-api-key': '{part.api_key}' },
            query: { timestamp: '{timestamp}', signature: '{signature}' },
          },
        },
      },
    })
    gw.upstream.respond(({ method, target, headers, body }, res) => {
      const [signedTarget = '', signature] = target.split('&signature=')
      const expected = createHmac('sha256', key).update(`${method}${signedTarget}`).update(body).digest('hex')
      const timestamp = Number(new URLSearchParams(signedTarget.split('?')[1]).get('timestamp'))
      const isGood =
        signature === expected &&
        Math.abs(Date.now() - timestamp) < 60_000 &&
        headers.some(([name, value]) => name === 'x-api-key' && value === 'public-key-of-mine')
      res.writeHead(isGood ? 200 : 401).end()
    })
    const asked = { method: 'POST', url: gw.url('/api/order?symbol=LTCBTC'), body: '{"side":"BUY"}' }
    expect((await gw.fetch(capability, asked)).body.upstream?.status).toBe(200)
    expect(gw.log()).not.toContain('signature=')
  })
})
