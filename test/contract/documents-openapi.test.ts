// The OpenAPI description is valid under a linter, complete, and true to the registry.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PaymentRequirementsV1 } from '../../schemas/x402.ts'
import { openApiOf } from '../../src/documents/openapi.ts'
import { errorsOf } from '../../src/core/tool-errors.ts'
import { ERRORS } from '../../src/core/errors.ts'
import { createRegistry } from '../../src/core/registry.ts'
import { tools } from '../../tools/index.ts'
import { at, type Json, keysAt } from '../support/tree.ts'

const baseUrl = 'http://127.0.0.1:8402'
const registry = createRegistry(tools)
const openApi = openApiOf(registry, { baseUrl, siteUrl: baseUrl, mcpUrl: `${baseUrl}/mcp` })

const routes = registry.tools
  .filter(({ tool }) => tool.doors.includes('rest'))
  .flatMap((entry) =>
    entry.tool.rest.map((route) => ({ entry, route, name: `${route.method} ${route.path}` })),
  )

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'openapi-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** @returns the linter's problems, one line each */
async function lint(document: unknown): Promise<string[]> {
  const file = join(folder, 'openapi.json')
  const config = join(folder, 'redocly.yaml')
  await writeFile(file, JSON.stringify(document))
  await writeFile(config, 'extends: [recommended]\ntelemetry: off\n')
  const cli = createRequire(import.meta.url)
    .resolve('@redocly/cli/package.json')
    .replace('package.json', 'bin/cli.js')
  const output = await new Promise<string>((resolve, reject) => {
    execFile(
      process.execPath,
      [cli, 'lint', file, '--config', config, '--format', 'json'],
      {
        env: { PATH: process.env['PATH'], REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
        maxBuffer: 2 ** 26,
      },
      (error, stdout, stderr) => (stdout ? resolve(stdout) : reject(error ?? new Error(stderr))),
    )
  })
  const report = JSON.parse(output) as { problems: { ruleId: string; message: string; severity: string }[] }
  return report.problems.map((problem) => `${problem.severity} ${problem.ruleId}: ${problem.message}`)
}

describe('the linter', () => {
  it('finds no error and no warning but of the slash that the specification asks for', async () => {
    expect(await lint(openApi)).toEqual([
      'error no-path-trailing-slash: `/p/{seller}/{service_id}/` should not have a trailing slash.',
    ])
  })

  it('would find an example that does not fit its schema', async () => {
    const damaged = structuredClone(openApi)
    Object.assign(at(damaged, 'components', 'examples', 'internal', 'value') as Json, {
      status: 'five hundred',
    })
    const examples = at(
      damaged,
      'paths',
      '/v1/execute',
      'post',
      'requestBody',
      'content',
      'application/json',
      'examples',
    )
    Object.assign(examples as Json, { broken: { value: { limit: 'many' } } })
    expect((await lint(damaged)).join('\n')).toMatch(/no-invalid-media-type-examples/)
  })
})

describe('the description', () => {
  it('is OpenAPI 3.1.0 of version 5.0.2', () => {
    expect(openApi['openapi']).toBe('3.1.0')
    expect(at(openApi, 'info', 'version')).toBe('5.0.2')
  })

  it('has an operation for each route and probe and no other', () => {
    const operations = keysAt(openApi, 'paths').flatMap((path) =>
      keysAt(openApi, 'paths', path).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const probes = ['GET /livez', 'GET /readyz']
    expect(operations.sort()).toEqual([...routes.map(({ name }) => name), ...probes].sort())
  })

  it.each(routes)(
    '$name has examples for request and answer, and every error it can end in',
    ({ entry, route }) => {
      const operation = at(openApi, 'paths', route.path, route.method.toLowerCase())
      const status = String(route.status ?? 200)
      const media = entry.tool.passes || route.isRaw ? '*/*' : 'application/json'
      expect(keysAt(operation, 'responses', status, 'content', media, 'examples')).not.toEqual([])
      if (at(operation, 'requestBody'))
        expect(keysAt(operation, 'requestBody', 'content', media, 'examples')).not.toEqual([])
      for (const code of [
        ...entry.tool.errors,
        'internal',
        'rate_limited',
        ...errorsOf(entry.tool, route),
      ] as const)
        expect(
          keysAt(
            operation,
            'responses',
            String(ERRORS[code].status),
            'content',
            'application/problem+json',
            'examples',
          ),
        ).toContain(code)
    },
  )

  it('describes what passes messages on: both parts of the address, any body, the answer and its marks', () => {
    const operation = at(openApi, 'paths', '/edge/{merchant-host}/{path}', 'post')
    const parameters = at(operation, 'parameters') as Json[]
    expect(
      parameters.map(({ name, in: place, required, schema }) => [name, place, required, schema]),
    ).toEqual([
      ['merchant-host', 'path', true, { type: 'string' }],
      ['path', 'path', true, { type: 'string' }],
    ])
    expect(keysAt(operation, 'requestBody', 'content')).toEqual(['*/*'])
    expect(keysAt(operation, 'responses', '200', 'content')).toEqual(['*/*'])
    expect(keysAt(operation, 'responses', '200', 'headers')).toContain('X-Gateway-Attempt')
    expect(keysAt(operation, 'responses')).toEqual(expect.arrayContaining(['402', '403', '413']))
  })

  it('offers no token as a parameter of an address', () => {
    const names = routes.flatMap(({ route }) => {
      const parameters = at(openApi, 'paths', route.path, route.method.toLowerCase(), 'parameters') ?? []
      return (parameters as { name: string }[]).map(({ name }) => name)
    })
    expect(names).toContain('limit')
    expect(names).not.toContain('capability')
  })

  it('has no reference that points nowhere', () => {
    const refs = [...JSON.stringify(openApi).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1]!)
    expect(refs.length).toBeGreaterThan(0)
    for (const ref of new Set(refs)) {
      const target = at(openApi, ...ref.split('/').slice(1))
      expect(target, ref).toBeDefined()
    }
  })
})

describe('payment', () => {
  const operation = (path: string, method = 'post') => at(openApi, 'paths', path, method) as Json
  const paid = ['/v1/tools/web.fetch', '/v1/tools/web.fetch/testnet', '/v1/credits/purchase']

  it.each(paid)('of %s is described: the challenge, how it is sent, what comes back', (path) => {
    const { security, responses, description } = operation(path)
    const schemes = (security as Json[]).flatMap((entry) => Object.keys(entry))
    expect(schemes).toContain('payment')
    expect(schemes).toContain('paymentV1')
    for (const entry of security as Json[])
      expect(Object.keys(entry).filter((name) => name.startsWith('payment'))).toHaveLength(1)
    expect(keysAt(responses, '402', 'headers')).toContain('Payment-Required')
    expect(keysAt(responses, '200', 'headers')).toContain('Payment-Response')
    expect(description).toMatch(/Price: 0\.\d{6} USDC\. It is paid with x402/)
  })

  it('names the header of each version of the protocol', () => {
    const schemes = at(openApi, 'components', 'securitySchemes')
    expect(at(schemes, 'payment')).toMatchObject({ in: 'header', name: 'Payment-Signature' })
    expect(at(schemes, 'paymentV1')).toMatchObject({ in: 'header', name: 'X-PAYMENT' })
  })

  it('takes a quote where one is given, and nowhere else', () => {
    const takers = routes.filter(({ route }) =>
      ((at(openApi, 'paths', route.path, route.method.toLowerCase(), 'parameters') ?? []) as Json[]).some(
        ({ name }) => name === 'X-Gateway-Quote',
      ),
    )
    expect(takers.map(({ route }) => route.path)).toEqual(['/v1/execute', ...paid.slice(0, 2)])
    for (const { route } of takers) {
      expect(keysAt(operation(route.path), 'responses', '402', 'headers')).toContain('X-Gateway-Quote')
      // Only a web fetch can be quoted without being asked for.
      const isFetch = route.path !== '/v1/execute'
      const parameters = JSON.stringify(at(operation(route.path), 'parameters'))
      expect(parameters.includes('/v1/pricing/quote')).toBe(isFetch)
    }
    expect(keysAt(operation(paid[2]!), 'responses', '402', 'headers')).not.toContain('X-Gateway-Quote')
  })

  it('may be left out of a call that is free for some inputs, whose prices are said one by one', () => {
    const { security, description } = operation('/v1/execute') as { security: Json[]; description: string }
    expect(security).toEqual([{}, { payment: [] }, { paymentV1: [] }])
    expect(description).toContain(
      'Price: extract-preview free, web-extraction 0.003000 USDC, product-offers 0.006000 USDC, feed-digest 0.002000 USDC.',
    )
  })

  it('is not asked for in a header by a 402 for credits, whose offer is for another address', () => {
    for (const path of ['/v1/egress/fetch', '/settle'])
      expect(at(operation(path), 'responses', '402', 'headers')).toBeUndefined()
    const example = at(openApi, 'components', 'examples', 'credits_required', 'value') as Json
    expect(example['offer']).toMatchObject({
      resource: { url: `${baseUrl}/v1/credits/purchase` },
      accepts: example['accepts'],
    })
  })

  it('is shown with the v1 body that stock clients read', () => {
    const example = at(openApi, 'components', 'examples', 'payment_required', 'value') as Json
    expect(example).toMatchObject({ x402Version: 1, error: 'Payment required' })
    expect(PaymentRequirementsV1.array().min(1).safeParse(example['accepts']).error).toBeUndefined()
  })

  it('is shown again to read what became of it', () => {
    expect(operation('/v1/payments/{claim_id}', 'get')['security']).toEqual([
      { payment: [] },
      { paymentV1: [] },
      { signIn: [] },
    ])
    expect(operation('/v1/pricing', 'get')['security']).toEqual([])
  })

  it('says what a fixed address sets', () => {
    expect(operation(paid[1]!)['description']).toContain('Here `testnet` is always `true`.')
  })

  it.each([
    ['isValid', 'invalidReason', 'payer'],
    ['success', 'errorReason', 'transaction', 'network'],
    ['offer', 'accepts', 'balance', 'payment_url', 'claim_id'],
  ])('names the members of refusals: %s …', (...names) => {
    expect(keysAt(openApi, 'components', 'schemas', 'Problem', 'properties')).toEqual(
      expect.arrayContaining(names),
    )
  })
})
