// The command line of AWS behind `agent-gateway run`: it signs with a placeholder, and what arrives is signed with the key that was stored. Each
// signature is recomputed by another implementation than ours.
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serveRanges } from '../support/ranges.ts'
import { type RunWorld, startRunWorld } from '../support/run-world.ts'
import type { ReceivedRequest } from '../support/upstream.ts'

const KEYS = { access_key_id: 'AKIAGATEWAYTEST', secret_access_key: 'wJalrXUtnFEMI-the-secret-of-this-test' }
interface Aws4 {
  sign(request: Record<string, unknown>, keys: Record<string, string>): { headers: Record<string, string> }
}
// The package has no types.
const aws4 = createRequire(import.meta.url)('aws4') as Aws4

function isSigned({ method, target, headers }: ReceivedRequest): boolean {
  const byName = Object.fromEntries(headers)
  const given = byName['authorization'] ?? ''
  const names = /SignedHeaders=([^,]+)/.exec(given)?.[1]?.split(';') ?? []
  const { headers: again } = aws4.sign(
    {
      method,
      path: target,
      host: byName['host'],
      headers: Object.fromEntries(names.map((name) => [name, byName[name]])),
      service: 's3',
      region: 'us-east-1',
    },
    { accessKeyId: KEYS.access_key_id, secretAccessKey: KEYS.secret_access_key },
  )
  return names.includes('x-amz-content-sha256') && again['Authorization'] === given
}

/** Each chunk has its length in front, in hexadecimal; the last one is empty, and the checksum follows it. */
function joinChunks(body: Buffer): Buffer {
  const chunks: Buffer[] = []
  for (let at = 0; ;) {
    const start = body.indexOf('\r\n', at) + 2
    const length = Number.parseInt(body.toString('latin1', at, start), 16)
    if (length === 0) return Buffer.concat(chunks)
    chunks.push(body.subarray(start, start + length))
    at = start + length + 2
  }
}

const env = {
  AWS_ACCESS_KEY_ID: 'AKIAPLACEHOLDER',
  AWS_SECRET_ACCESS_KEY: 'placeholder',
  AWS_DEFAULT_REGION: 'us-east-1',
  AWS_EC2_METADATA_DISABLED: 'true',
}

describe('aws', () => {
  let world: RunWorld
  const objects = new Map<string, Buffer>()
  beforeAll(async () => {
    world = await startRunWorld({ secrets: [KEYS.secret_access_key], isSigned })
    await world.gw.grant({
      credential: {
        secret: undefined,
        parts: KEYS,
        label: 's3',
        hosts: [world.host],
        settings: { kind: { type: 'aws_sigv4', region: 'us-east-1', service: 's3' } },
      },
    })
    world.gw.upstream.respond((request, res) => {
      if (!isSigned(request))
        return res.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>')
      const name = request.target.split('?')[0] ?? ''
      if (request.method === 'PUT') {
        const isChunked = new Map(request.headers).get('content-encoding') === 'aws-chunked'
        objects.set(name, isChunked ? joinChunks(request.body) : request.body)
        return res.writeHead(200, { etag: '"0"' }).end()
      }
      serveRanges(() => objects.get(name))(request, res)
    })
  })
  afterAll(() => world.close())

  // By itself a current one sends chunks with a checksum behind them.
  it.each([
    ['as it is in a run', []],
    [
      'told to add checksums',
      [
        'env',
        'AWS_REQUEST_CHECKSUM_CALCULATION=when_supported',
        'AWS_RESPONSE_CHECKSUM_VALIDATION=when_supported',
      ],
    ],
  ])('puts an object and gets it again, %s', async (_how, told) => {
    const body = randomBytes(200_000)
    await writeFile(join(world.folder, 'up.bin'), body)
    const s3 = [...told, 'aws', '--endpoint-url', world.url(''), 's3', 'cp', '--only-show-errors']
    await world.run('s3', [...s3, 'up.bin', 's3://photos/a cat.bin'], { attempts: 1, env })
    expect(objects.get('/photos/a%20cat.bin')).toEqual(body)
    // It asks for the head of an object first.
    await world.run('s3', [...s3, 's3://photos/a cat.bin', 'down.bin'], { attempts: 2, env })
    expect(await readFile(join(world.folder, 'down.bin'))).toEqual(body)
  })
  // It asks for what is longer than 8 MiB in parts of as much, several at once.
  it('gets an object in parts', async () => {
    const body = randomBytes(17 * 1024 * 1024 + 1)
    objects.set('/photos/long.bin', body)
    const s3 = ['aws', '--endpoint-url', world.url(''), 's3', 'cp', '--only-show-errors']
    const { received } = await world.run('s3', [...s3, 's3://photos/long.bin', 'long.bin'], {
      attempts: 4,
      env,
    })
    expect(received.filter(({ headers }) => headers.some(([name]) => name === 'range'))).toHaveLength(3)
    expect((await readFile(join(world.folder, 'long.bin'))).equals(body)).toBe(true)
  })
})
