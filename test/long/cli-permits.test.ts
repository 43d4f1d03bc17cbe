// Mandates and permits on the command line: prepared from a file, read by a person, approved or refused, executed by whoever
// holds the permit. Against the real gateway in a process of its own.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type GatewayProcess, runCli, startGatewayProcess } from '../support/cli.ts'
import { createWorld, UPSTREAM_HOST, type World } from '../support/gateway.ts'

const SECRET = 'upstream-secret-of-the-permit-test'
/** Clears the screen, renames the window, turns the text around, hides a word. */
const HOSTILE = 'refund\u001b[2J\u001b]0;owned\u0007 \u202eevil\u202c zero\u200bwidth'

let world: World
let gateway: GatewayProcess
let env: Record<string, string>
let baseUrl: string
let credential: string
let host: string

beforeAll(async () => {
  world = await createWorld()
  env = { ...world.env, NODE_EXTRA_CA_CERTS: await world.ca.write(world.dataDir) }
  gateway = startGatewayProcess(env, { upstreamsOnLoopback: true })
  baseUrl = await gateway.listening
  host = `${UPSTREAM_HOST}:${world.upstream.port}`
  const scope = ['--host', UPSTREAM_HOST, '--path', '/', '--method', 'GET', '--method', 'POST']
  credential = (await json(['credentials', 'add', '--provider', 'custom', ...scope], SECRET)).credential_id
})
afterAll(async () => {
  gateway.kill('SIGTERM')
  await gateway.ended
  await world.close()
})

const cli = (args: readonly string[], input?: string) => runCli(args, env, input)

/** Runs with --json and expects it to work. */
// oxlint-disable-next-line typescript/no-explicit-any
async function json(args: readonly string[], input?: string): Promise<any> {
  const { code, stdout, stderr } = await cli([...args, '--json'], input)
  expect({ code, stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout)
}

async function execute(permit: string, request: Record<string, unknown>) {
  const response = await fetch(`${baseUrl}/v1/actions/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ permit, request }),
  })
  // oxlint-disable-next-line typescript/no-explicit-any
  return { status: response.status, body: (await response.json()) as any }
}

const file = (name: string, content: string | Buffer) => {
  const path = join(world.dataDir, name)
  writeFileSync(path, content)
  return path
}
const prepare = (path: string, ...more: string[]) => [
  'permits',
  'prepare',
  world.url(path),
  '--credential',
  credential,
  ...more,
]

describe('a permit without a person', () => {
  it('is prepared for exactly the bytes of a file, is executed once, and shows its attempt', async () => {
    const body = Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d, 0x0d, 0x0a])
    const out = join(world.dataDir, 'order.permit')
    const sending = ['--method', 'post', '--header', 'Content-Type: application/json']
    const from = ['--body-file', file('order.json', body), '--purpose', 'Order tea', '--out', out]
    const prepared = await json(prepare('/orders', ...sending, ...from))
    expect(prepared).toMatchObject({ state: 'ready', permit_file: out })
    expect(prepared.permit).toBeUndefined()
    expect(statSync(out).mode & 0o777).toBe(0o600)
    const permit = readFileSync(out, 'utf8').trim()
    const request = {
      url: world.url('/orders'),
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: body.toString('utf8'),
    }

    const answer = await execute(permit, request)
    expect([answer.status, answer.body.permit_id]).toEqual([200, prepared.permit_id])
    expect(world.upstream.requests.at(-1)!.body).toEqual(body)
    const again = await execute(permit, request)
    expect([again.status, again.body.attempt_id]).toEqual([409, answer.body.attempt_id])

    expect(await json(['permits', 'show', prepared.permit_id])).toMatchObject({
      state: 'executed',
      attempt_id: answer.body.attempt_id,
      summary: null,
    })
    const { stdout } = await cli(['permits', 'list'])
    expect(stdout).toMatch(/^PERMIT ID +STATE +METHOD +HOST/)
    expect(stdout).toContain(answer.body.attempt_id)
    expect(stdout + gateway.stderr()).not.toContain(permit)
  })

  it('takes bytes that are no text from stdin, and is shown last and alone on its line', async () => {
    const { code, stdout } = await cli(
      prepare('/bytes', '--method', 'POST', '--body-file', '-', '--purpose', 'Any bytes'),
      'plain words',
    )
    expect(code).toBe(0)
    expect(stdout).toMatch(/state +ready\n/)
    const [, permit] = /\n\n([\w-]+\.[\w-]+\.[\w-]+)\n$/.exec(stdout)!
    const sent = { url: world.url('/bytes'), method: 'POST', body: 'plain words' }
    expect((await execute(permit!, sent)).status).toBe(200)

    const bytes = Buffer.from([0xff, 0xfe, 0x00])
    const binary = await json(
      prepare('/bytes', '--method', 'POST', '--body-file', file('bytes', bytes), '--purpose', 'Bytes'),
    )
    const request = { url: world.url('/bytes'), method: 'POST', body_base64: bytes.toString('base64') }
    expect((await execute(binary.permit, request)).status).toBe(200)
    expect(world.upstream.requests.at(-1)!.body).toEqual(bytes)
  })

  it('lies in a mandate made for this one request, which allows no other', async () => {
    const { mandate_id } = await json(prepare('/only/this', '--purpose', 'One look'))
    const { mandates } = await json(['mandates', 'list'])
    expect(
      mandates.find((mandate: { mandate_id: string }) => mandate.mandate_id === mandate_id),
    ).toMatchObject({
      purpose: 'One look',
      credential_id: credential,
      host,
      path_prefix: '/only/this',
      methods: ['GET'],
      max_calls: 1,
      max_credits: null,
      calls: 1,
      requires_approval: false,
    })
    const second = await cli(prepare('/only/this', '--mandate', mandate_id))
    expect(second.code).toBe(1)
    expect(second.stderr).toContain('mandate_required, 428')
  })
})

describe('a stored mandate', () => {
  it('is made from options, counts its permits, and ends them when it is revoked', async () => {
    const where = [
      '--credential',
      credential,
      '--host',
      host,
      '--path-prefix',
      '/v1',
      '--methods',
      'get,POST',
    ]
    const limits = ['--max-calls', '5', '--max-credits', '9', '--expires-in', '7d']
    const created = await json(['mandates', 'create', '--purpose', 'Look things up', ...where, ...limits])
    expect(created).toMatchObject({ path_prefix: '/v1', methods: ['GET', 'POST'], max_calls: 5, calls: 0 })
    const prepared = await json(prepare('/v1/things', '--mandate', created.mandate_id))
    expect(prepared.mandate_id).toBe(created.mandate_id)
    const { stdout } = await cli(['mandates', 'list'])
    expect(stdout).toMatch(/^MANDATE ID +PURPOSE/)
    expect(stdout).toMatch(new RegExp(`${created.mandate_id} +Look things up .* 1 +5 +1 +9 +false`))

    expect((await json(['mandates', 'revoke', created.mandate_id])).revoked_at).not.toBeNull()
    const refused = await execute(prepared.permit, { url: world.url('/v1/things'), method: 'GET' })
    expect([refused.status, refused.body.code, refused.body.why]).toEqual([
      409,
      'permit_revoked',
      'mandate_revoked',
    ])
  })

  it('is the same one when the same file is given again, stored or with a permit', async () => {
    const mandate = {
      purpose: 'From a file',
      credential_id: credential,
      host,
      methods: ['GET'],
      max_calls: 5,
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    }
    const terms = file('mandate.json', JSON.stringify(mandate))
    const stored = await json(['mandates', 'create', '--mandate-file', terms])
    const again = await json(['mandates', 'create', '--mandate-file', '-'], JSON.stringify(mandate))
    const prepared = await json(prepare('/v1', '--mandate-file', terms))
    expect([again.mandate_id, prepared.mandate_id]).toEqual([stored.mandate_id, stored.mandate_id])
  })
})

describe('a permit that a person approves', () => {
  const request = () => ({ url: world.url('/pay'), method: 'POST', body: HOSTILE })
  const prepareHostile = () =>
    json(
      prepare(
        '/pay',
        '--method',
        'POST',
        '--body-file',
        '-',
        '--purpose',
        'Pay the bill',
        '--requires-approval',
      ),
      HOSTILE,
    )

  it('waits, is shown without a chance to fool the terminal, and is executed after it was approved', async () => {
    const prepared = await prepareHostile()
    expect(prepared.state).toBe('pending_approval')
    expect((await execute(prepared.permit, request())).body.code).toBe('permit_pending')

    const { stdout: list } = await cli(['permits', 'list', '--pending'])
    expect(list).toMatch(new RegExp(`${prepared.permit_id} +POST +https://${host}/pay .*Pay the bill`))
    const { stdout: shown } = await cli(['permits', 'show', prepared.permit_id])
    expect(shown).toContain(`POST https://${host}/pay`)
    expect(shown).toContain('Pay the bill')
    expect(shown).toContain('[2J')
    expect(shown).not.toContain(SECRET)
    for (const text of [list, shown])
      expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)

    const unasked = await cli(['permits', 'approve', prepared.permit_id])
    expect([unasked.code, unasked.stdout]).toEqual([2, ''])
    expect(unasked.stderr).toContain('approve with --yes')
    expect((await json(['permits', 'show', prepared.permit_id])).state).toBe('pending_approval')

    const approved = await cli(['permits', 'approve', prepared.permit_id, '--yes'])
    expect(approved.code).toBe(0)
    expect(approved.stdout).toMatch(/state +ready\n/)
    expect(approved.stderr).toContain(`POST https://${host}/pay`)
    expect((await execute(prepared.permit, request())).status).toBe(200)
    expect(world.upstream.requests.at(-1)!.body.toString()).toBe(HOSTILE)

    const late = await cli(['permits', 'refuse', prepared.permit_id])
    expect(late.code).toBe(1)
    expect(late.stderr).toContain('state_conflict, 409')
    expect(late.stderr).toContain('a decision is made once')
  })

  it('is refused, and gives its mandate the share back', async () => {
    const prepared = await prepareHostile()
    expect(await json(['permits', 'refuse', prepared.permit_id])).toMatchObject({ state: 'refused' })
    expect((await execute(prepared.permit, request())).body.code).toBe('permit_refused')
    const { mandates } = await json(['mandates', 'list'])
    expect(
      mandates.find(({ mandate_id }: { mandate_id: string }) => mandate_id === prepared.mandate_id),
    ).toMatchObject({ calls: 0 })
    const { permits } = await json(['permits', 'list', '--pending'])
    expect(permits).toEqual([])
    expect((await cli(['permits', 'list', '--pending'])).stdout).toBe('No permit waits for approval.\n')
  })
})

describe('what goes wrong is said in words', () => {
  it.each<[string, () => string[], number, string]>([
    ['no mandate', () => prepare('/x'), 2, '--purpose to make one for this request'],
    ['two mandates', () => prepare('/x', '--mandate', 'mdt_1', '--purpose', 'x'), 2, 'has its own terms'],
    [
      'terms twice',
      () => prepare('/x', '--mandate-file', file('terms.json', '{}'), '--max-calls', '1'),
      2,
      'not both',
    ],
    [
      'a mandate that is not there',
      () => prepare('/x', '--mandate', 'mdt_nothing'),
      1,
      'mandate_required, 428',
    ],
    [
      'a mandate file that is no JSON',
      () => prepare('/x', '--mandate-file', file('broken.json', '{')),
      2,
      'is not JSON: look at line 1',
    ],
    [
      'a mandate file that holds no object',
      () => prepare('/x', '--mandate-file', file('list.json', '[]')),
      2,
      'holds no JSON object',
    ],
    [
      'a mandate file with too little in it',
      () => ['mandates', 'create', '--mandate-file', file('empty.json', '{}')],
      1,
      '/purpose',
    ],
    [
      'a mandate with too few options',
      () => ['mandates', 'create', '--purpose', 'x', '--host', 'a.example'],
      2,
      'needs --credential, --methods, --max-calls or --max-credits, --expires-in',
    ],
    ['a header that is none', () => prepare('/x', '--purpose', 'x', '--header', 'accept'), 2, 'name: value'],
    [
      'a header twice',
      () => prepare('/x', '--purpose', 'x', '--header', 'accept: a', '--header', 'Accept: b'),
      2,
      'accept is given twice',
    ],
    [
      'a header that would carry a secret',
      () => prepare('/x', '--purpose', 'x', '--header', 'authorization: Bearer x'),
      1,
      'header_forbidden, 400',
    ],
    [
      'a body file that is not there',
      () => prepare('/x', '--purpose', 'x', '--body-file', '/nowhere/body'),
      2,
      '/nowhere/body cannot be read',
    ],
    [
      'a body that is far too long',
      () => prepare('/x', '--purpose', 'x', '--body-file', file('long', Buffer.alloc(600_000))),
      2,
      'longer than',
    ],
    [
      'stdin for two things',
      () => prepare('/x', '--body-file', '-', '--mandate-file', '-'),
      2,
      'Only one of --body-file and --mandate-file',
    ],
    [
      'a URL that is none',
      () => ['permits', 'prepare', 'nowhere', '--credential', credential, '--purpose', 'x'],
      1,
      '400',
    ],
    ['a permit that is not there', () => ['permits', 'show', 'pmt_nothing'], 1, 'permit_not_found, 404'],
    [
      'no permit to approve',
      () => ['permits', 'approve', 'pmt_nothing', '--yes'],
      1,
      'permit_not_found, 404',
    ],
    ['no mandate to revoke', () => ['mandates', 'revoke', 'mdt_nothing'], 1, 'mandate_not_found, 404'],
  ])('%s', async (_, args, code, words) => {
    const result = await cli(args())
    expect({ code: result.code, stdout: result.stdout }).toEqual({ code, stdout: '' })
    expect(result.stderr).toContain(words)
    expect(result.stderr).not.toMatch(/^ +at /m)
  })

  it('nothing was sent to the upstream by any of it', () => {
    expect(world.upstream.requests.filter(({ target }) => target === '/x')).toEqual([])
  })
})
