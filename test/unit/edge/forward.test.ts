// Where a request leads, and who is asked before it goes: with an engine that only writes down what it was given.
import { createSecretKey } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { chargeOf } from '../../support/no-gate.ts'
import { toPolicy } from '../../../src/commerce/policy/document.ts'
import { createEdgeForward, type ForwardParts } from '../../../src/edge/forward.ts'
import { type ConsentVerdict, note } from '../../../src/edge/ports.ts'
import type { PreparedRequest } from '../../../src/egress/request.ts'
import type { Paid } from '../../../src/egress/paid.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { parseFault } from '../../../src/lib/fault-points.ts'
import type { HttpMessage } from '../../../src/core/message.ts'

const HOST = 'shop.example.com'
const consentOf = (
  changes: Partial<Extract<ConsentVerdict, { ok: true }>['consent']> = {},
): ConsentVerdict => ({
  ok: true,
  accountId: 'acct_merchant',
  consent: {
    accountToken: 'a'.repeat(26),
    paths: ['/'],
    methods: ['POST'],
    until: null,
    recordDigest: 'digest-of-the-record',
    ...changes,
  },
})

interface World {
  readonly steps: string[]
  readonly sent: Paid[]
  readonly asked: string[]
  forward(transaction?: Partial<HttpMessage>): Promise<string>
}

function createWorld(given: { consent?: ConsentVerdict; parts?: Partial<ForwardParts> } = {}): World {
  const steps: string[] = []
  const sent: Paid[] = []
  const asked: string[] = []
  const forward = createEdgeForward({
    store: {
      async reserveEdgeCall({ attempt, cost }) {
        steps.push(`debit ${cost} ${attempt.accountId} ${attempt.kind} ${attempt.state}`)
        return { ok: true, balance: 41 }
      },
    },
    consents: {
      async find(host) {
        steps.push('consent')
        asked.push(host)
        return given.consent ?? consentOf()
      },
    },
    applyPolicy: async () => void steps.push('policy'),
    readPolicy: async () => toPolicy({ default: {}, accounts: {} }, undefined),
    admission: {
      async enter(accountId) {
        steps.push(`admit ${accountId}`)
        return () => void steps.push('leave')
      },
    },
    runner: {
      recall: async () => undefined,
      begin: (_attempt, reserve) => reserve(),
      async run(paid) {
        steps.push('run')
        sent.push(paid)
        const response = { status: 200, statusText: '', headers: [], body: Buffer.from('x') }
        return {
          response,
          headers: paid.pickHeaders(response.headers),
          receipt: { id: 'rcp_1', accountId: 'acct_merchant', jws: 'a.b.c', createdAt: 0 },
          balance: 41,
          isAnswerKept: false,
          responseDigest: 'digest',
          contentDigest: 'content digest',
          addresses: ['192.0.2.1'],
        }
      },
    },
    inspect: () => {
      steps.push('inspect')
      return { protocols: [], findings: [] }
    },
    signer: { kid: 'k', environment: 'production', sign: () => 'evidence' },
    idempotencyKey: createSecretKey(Buffer.alloc(32)),
    edgeName: 'gw.example.net',
    egressPorts: [443, 8443],
    allowSandboxName: false,
    baseUrl: 'https://gw.example.net',
    bootId: 'boot',
    now: () => 1_700_000_000_000,
    fault: parseFault(undefined),
    ...given.parts,
  })
  return {
    steps,
    sent,
    asked,
    async forward(transaction = {}) {
      try {
        const { status } = await forward(
          {
            host: HOST,
            path: '/v1/x',
            query: undefined,
            method: 'POST',
            headers: [],
            body: Buffer.alloc(0),
            address: '198.51.100.7',
            requestId: 'req_1',
            ...transaction,
          },
          chargeOf(),
        )
        return String(status)
      } catch (thrown) {
        if (thrown instanceof GatewayError) return thrown.code
        throw thrown
      }
    },
  }
}

const urlOf = ({ target }: PreparedRequest) => target.url.href

describe('where it leads', () => {
  it.each<[host: string, path: string, query: string | undefined, url: string]>([
    [HOST, '/', undefined, `https://${HOST}/`],
    [HOST, '/v1/a-b_c.d~e', undefined, `https://${HOST}/v1/a-b_c.d~e`],
    [HOST, '/v1/%C3%A9/x', 'a=%2F&b=c/d?e', `https://${HOST}/v1/%C3%A9/x?a=%2F&b=c/d?e`],
    [`${HOST}:8443`, '/v1', undefined, `https://${HOST}:8443/v1`],
    ['xn--bcher-kva.example.com', '/v1', undefined, 'https://xn--bcher-kva.example.com/v1'],
    [HOST, '/edge/other.example.com/x', undefined, `https://${HOST}/edge/other.example.com/x`],
  ])('%s%s?%s goes to %s', async (host, path, query, url) => {
    const world = createWorld()
    expect(await world.forward({ host, path, query })).toBe('200')
    expect(world.sent.map(({ request }) => urlOf(request))).toEqual([url])
  })

  it.each<[what: string, host: string, path: string, query: string | undefined, code: string]>([
    ['no path', HOST, '', undefined, 'target_invalid'],
    ['no host', '', '/v1', undefined, 'target_invalid'],
    ['no host before another one', '', '/other.example.com/x', undefined, 'target_invalid'],
    ['dot segments', HOST, '/v1/../admin', undefined, 'target_invalid'],
    ['a dot segment at the end', HOST, '/v1/.', undefined, 'target_invalid'],
    ['escaped dots', HOST, '/v1/%2e%2e/admin', undefined, 'target_invalid'],
    ['half escaped dots', HOST, '/v1/.%2E/admin', undefined, 'target_invalid'],
    ['dots before a path parameter', HOST, '/v1/..;x/admin', undefined, 'target_invalid'],
    ['dots before an escaped slash', HOST, '/v1/..%2fadmin', undefined, 'target_invalid'],
    ['dots before an escaped semicolon', HOST, '/v1/..%3bx%2fadmin', undefined, 'target_invalid'],
    ['two escaped slashes', HOST, '/v1%2f%2fadmin', undefined, 'target_invalid'],
    ['an escaped backslash', HOST, '/v1%5Cadmin', undefined, 'target_invalid'],
    ['an escaped percent sign', HOST, '/v1%252fadmin', undefined, 'target_invalid'],
    ['two slashes', HOST, '//other.example.com/x', undefined, 'target_invalid'],
    ['two slashes inside', HOST, '/v1//x', undefined, 'target_invalid'],
    ['a backslash', HOST, '/\\other.example.com/x', undefined, 'target_invalid'],
    ['a backslash in the host', `${HOST}\\other.example.com`, '/x', undefined, 'target_invalid'],
    ['a user name', `user@${HOST}`, '/x', undefined, 'target_invalid'],
    ['a host as user name', `${HOST}@other.example.com`, '/x', undefined, 'target_invalid'],
    ['an empty user name', `@${HOST}`, '/x', undefined, 'target_invalid'],
    ['a trailing dot', `${HOST}.`, '/x', undefined, 'target_invalid'],
    ['capitals', 'Shop.example.com', '/x', undefined, 'target_invalid'],
    ['an escape in the host', 'sho%70.example.com', '/x', undefined, 'target_invalid'],
    ['a U-label', 'b\u00c3\u00bccher.example.com', '/x', undefined, 'target_invalid'],
    ['the default port', `${HOST}:443`, '/x', undefined, 'target_invalid'],
    ['an empty port', `${HOST}:`, '/x', undefined, 'target_invalid'],
    ['a port with a zero', `${HOST}:08443`, '/x', undefined, 'target_invalid'],
    ['an escaped port', `${HOST}%3A8443`, '/x', undefined, 'target_invalid'],
    ['an empty query', HOST, '/x', '', 'target_invalid'],
    ['a fragment', HOST, '/x', 'a#b', 'target_invalid'],
    ['a fragment in the path', HOST, '/x#y', undefined, 'target_invalid'],
    ['a broken escape', HOST, '/x', 'a=%zz', 'target_invalid'],
    ['bytes that are not ASCII', HOST, '/caf\u00c3\u00a9', undefined, 'target_invalid'],
    ['a space', HOST, '/a b', undefined, 'target_invalid'],
    ['very much', HOST, `/${'x'.repeat(8200)}`, undefined, 'target_invalid'],
    ['another port', `${HOST}:8444`, '/x', undefined, 'target_blocked'],
    ['an IPv4 address', '192.0.2.1', '/x', undefined, 'target_blocked'],
    ['an IPv4 address in one number', '2130706433', '/x', undefined, 'target_blocked'],
    ['an IPv6 address', '[::1]', '/x', undefined, 'target_blocked'],
    ['a local name', 'localhost', '/x', undefined, 'target_blocked'],
    ['a name of the network', 'db.internal', '/x', undefined, 'target_blocked'],
    ['the sample site, where there is none', 'sandbox.agent-gateway.test', '/x', undefined, 'target_blocked'],
  ])('%s leads nowhere, and DNS is not asked', async (_, host, path, query, code) => {
    const world = createWorld()
    expect(await world.forward({ host, path, query })).toBe(code)
    expect(world.steps).toEqual([])
  })

  it.each(['/v1;a=1/x', '/v1/a%2Fb', '/v1/%7Eada', '/v1/%c3%a9', '/v1/%3b', '/v1;/x'])(
    'is the path as it was written: %s',
    async (path) => {
      const world = createWorld()
      expect(await world.forward({ path })).toBe('200')
      expect(world.sent.map(({ request }) => request.target.url.href)).toEqual([`https://${HOST}${path}`])
    },
  )

  it.each(['/v1%2Fadmin', '/v1;x/admin', '/v1;', '/%76%31/x', '/v1%2f'])(
    'is not what only some servers read as the path that consent is for: %s',
    async (path) => {
      const world = createWorld({ consent: consentOf({ paths: ['/v1'] }) })
      expect(await world.forward({ path })).toBe('edge_not_authorized')
      expect(world.sent).toEqual([])
    },
  )

  it('is the host and the path of the address, byte for byte, or nowhere', async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '.',
        '..',
        '%2e',
        '%2F',
        '%5c',
        '//',
        '/',
        '\\',
        '@',
        ':',
        '#',
        '?',
        ';',
        HOST,
        'v1',
        '%C3%A9',
      ),
      fc.string({ maxLength: 4 }),
      fc.string({ unit: 'binary', maxLength: 4 }),
    )
    const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''))
    let forwarded = 0
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.constant(HOST),
          fc.constant(`${HOST}:8443`),
          text.map((host) => host.replaceAll('/', '')),
        ),
        text.map((path) => `/${path}`),
        fc.option(text, { nil: undefined }),
        async (host, path, query) => {
          const world = createWorld()
          const code = await world.forward({ host, path, query })
          if (code !== '200') {
            expect(world.sent).toEqual([])
            return
          }
          forwarded++
          const [{ request }] = world.sent as [Paid]
          const { url } = request.target
          expect(url.host).toBe(host)
          expect(world.asked).toEqual([host.split(':')[0]])
          // What the sender writes into the request line.
          expect(url.pathname + url.search).toBe(query === undefined ? path : `${path}?${query}`)
          expect(url.username + url.password + url.hash).toBe('')
        },
      ),
      { numRuns: 3000 },
    )
    expect(forwarded).toBeGreaterThan(100)
  })
})

describe('who is asked', () => {
  it('goes through consent, policy and inspection before anything is paid, and pays once', async () => {
    const world = createWorld()
    expect(await world.forward()).toBe('200')
    expect(world.steps).toEqual([
      'consent',
      'policy',
      'inspect',
      'admit acct_merchant',
      'debit 1 acct_merchant edge reserved',
      'run',
      'leave',
    ])
  })

  it('gives its place back when the merchant is not reached', async () => {
    const world = createWorld({
      parts: {
        runner: {
          recall: async () => undefined,
          begin: (_attempt, reserve) => reserve(),
          run: async () => Promise.reject(new GatewayError('upstream_unreachable', 'No.')),
        },
      },
    })
    expect(await world.forward()).toBe('upstream_unreachable')
    expect(world.steps.at(-1)).toBe('leave')
  })

  it.each<[string, Parameters<typeof createWorld>[0], string, readonly string[]]>([
    [
      'no consent',
      { consent: { ok: false, refusal: 'absent', detail: 'There is none.' } },
      'edge_not_authorized',
      ['consent'],
    ],
    [
      'consent for other paths',
      { consent: consentOf({ paths: ['/v2', '/v1/x/'] }) },
      'edge_not_authorized',
      ['consent'],
    ],
    [
      'consent for a path that begins alike',
      { consent: consentOf({ paths: ['/v'] }) },
      'edge_not_authorized',
      ['consent'],
    ],
    [
      'consent for other methods',
      { consent: consentOf({ methods: ['GET'] }) },
      'edge_not_authorized',
      ['consent'],
    ],
    [
      'the operator',
      { parts: { applyPolicy: async () => Promise.reject(new GatewayError('egress_paused', 'Paused.')) } },
      'egress_paused',
      ['consent'],
    ],
    [
      'a finding that blocks',
      { parts: { inspect: () => ({ protocols: [], findings: [{ rule: 'r', blocks: true, detail: 'd' }] }) } },
      'transaction_blocked',
      ['consent', 'policy'],
    ],
    [
      'too many at once',
      {
        parts: { admission: { enter: async () => Promise.reject(new GatewayError('overloaded', 'Busy.')) } },
      },
      'overloaded',
      ['consent', 'policy', 'inspect'],
    ],
  ])('stops at %s', async (_, given, code, steps) => {
    const world = createWorld(given)
    expect(await world.forward()).toBe(code)
    expect(world.steps).toEqual(steps)
  })

  it('lets a method other than POST through where consent lists it, and says elsewhere what is taken', async () => {
    const absent: ConsentVerdict = { ok: false, refusal: 'absent', detail: 'None.' }
    for (const consent of [absent, consentOf()]) {
      const world = createWorld({ consent })
      expect(await world.forward({ method: 'GET' })).toBe('method_not_allowed')
      expect(world.steps).toEqual(['consent'])
    }
    const world = createWorld({ consent: consentOf({ methods: ['GET', 'DELETE'] }) })
    expect(await world.forward({ method: 'GET' })).toBe('200')
    expect(await world.forward({ method: 'DELETE' })).toBe('200')
    expect(
      world.sent.map(({ attempt, request }) => [request.method, attempt.idempotencyKey !== null]),
    ).toEqual([
      ['GET', false],
      ['DELETE', true],
    ])
  })

  it('goes on with a finding that is only noted', async () => {
    const world = createWorld({
      parts: { inspect: () => ({ protocols: [], findings: [{ rule: 'r', blocks: false, detail: 'd' }] }) },
    })
    expect(await world.forward()).toBe('200')
  })

  it.each<[string, HttpMessage['headers'], boolean]>([
    ['none', [], true],
    ['one of the buyer', [['Idempotency-Key', 'mine']], false],
    ['an empty one', [['idempotency-key', '']], false],
    [
      'one that ends at this hop',
      [
        ['Connection', 'idempotency-key'],
        ['Idempotency-Key', 'mine'],
      ],
      true,
    ],
  ])('adds an Idempotency-Key only where there is %s', async (_, headers, isAdded) => {
    const world = createWorld()
    await world.forward({ headers })
    expect(world.sent[0]!.attempt.idempotencyKey !== null).toBe(isAdded)
  })

  it('says nothing of the merchant where its credits have run out', async () => {
    const forward = createWorld({
      parts: { store: { reserveEdgeCall: async () => ({ ok: false, reason: 'credits', balance: 0 }) } },
    })
    expect(await forward.forward()).toBe('credits_required')
    expect(forward.sent).toEqual([])
  })
})

describe('evidence', () => {
  it('names each rule once, and what the consent was', async () => {
    const signed: object[] = []
    const signer = {
      kid: 'k',
      environment: 'production' as const,
      sign: (_typ: string, payload: object) => String(signed.push(payload)),
    }
    const rules = ['b_rule', 'a_rule', 'b_rule']
    const inspect = () => ({ protocols: ['x402'], findings: rules.map((rule) => note(rule, 'x')) })
    expect(await createWorld({ parts: { signer, inspect } }).forward()).toBe('200')
    expect(signed).toMatchObject([
      {
        inspection: { verdict: 'noted', findings: ['b_rule', 'a_rule'] },
        consent: { record_digest: 'digest-of-the-record' },
        started_at: '2023-11-14T22:13:20.000Z',
      },
    ])
  })
})
