// The OpenAPI description is valid under a linter, complete, and true to the registry.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openApiOf } from '../../src/documents/openapi.ts'
import { errorsOf } from '../../src/documents/problems.ts'
import { ERRORS } from '../../src/errors.ts'
import { createRegistry } from '../../src/registry.ts'
import { tools } from '../../tools/index.ts'
import { at, type Json, keysAt } from '../support/tree.ts'

const baseUrl = 'http://127.0.0.1:8402'
const registry = createRegistry(tools)
const openApi = openApiOf(registry, { baseUrl, siteUrl: baseUrl, mcpUrl: `${baseUrl}/mcp` })

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
  it('finds no error and no warning', async () => {
    expect(await lint(openApi)).toEqual([])
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

  const routes = registry.tools
    .filter(({ tool }) => tool.doors.includes('rest'))
    .flatMap((entry) =>
      entry.tool.rest.map((route) => ({ entry, route, name: `${route.method} ${route.path}` })),
    )

  it('has an operation for each route and no other', () => {
    const operations = keysAt(openApi, 'paths').flatMap((path) =>
      keysAt(openApi, 'paths', path).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(operations.sort()).toEqual(routes.map(({ name }) => name).sort())
  })

  it.each(routes)(
    '$name has examples for request and answer, and every error it can end in',
    ({ entry, route }) => {
      const operation = at(openApi, 'paths', route.path, route.method.toLowerCase())
      const status = String(route.status ?? 200)
      expect(keysAt(operation, 'responses', status, 'content', 'application/json', 'examples')).not.toEqual(
        [],
      )
      if (at(operation, 'requestBody'))
        expect(keysAt(operation, 'requestBody', 'content', 'application/json', 'examples')).not.toEqual([])
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
