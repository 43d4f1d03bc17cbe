// The REST request of an input, and its line for a shell.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { createRegistry } from '../../../src/core/registry.ts'
import { curlOf, faultsOf, missingInPath, requestOf } from '../../../src/doors/site/components/try/request.ts'
import { tryFacts } from '../../../src/doors/site/trying.ts'
import { tools } from '../../../tools/index.ts'

const registry = createRegistry(tools)

describe('a request', () => {
  it('has each value in one place', () => {
    expect(requestOf({ method: 'GET', path: '/v1/a/{id}' }, { id: 'x/y?', tags: ['b', 'c'], n: 1 })).toEqual({
      method: 'GET',
      path: '/v1/a/x%2Fy%3F?tags=b&tags=c&n=1',
    })
    expect(requestOf({ method: 'POST', path: '/v1/a/{id}' }, { id: '..', more: { b: 1 } })).toEqual({
      method: 'POST',
      path: '/v1/a/..',
      body: { more: { b: 1 } },
    })
  })

  it('knows what its path lacks', () => {
    const route = { method: 'GET', path: '/v1/{a}/{b}' } as const
    expect(missingInPath(route, { a: '', b: 0 })).toEqual(['a'])
  })

  it('exists for every tool but those that pass messages on, and is of its own route', () => {
    for (const entry of registry.tools) {
      const facts = tryFacts(entry, 'sandbox')
      expect(facts === undefined, entry.tool.name).toBe(entry.tool.passes !== undefined)
      if (!facts) continue
      const { path } = requestOf(facts, facts.examples[0]?.input ?? {})
      expect(path, entry.tool.name).not.toContain('{')
      expect(path.startsWith('/'), entry.tool.name).toBe(true)
    }
  })

  it('asks for a script wherever a secret is sent or answered', () => {
    const open = registry.tools.filter((entry) => tryFacts(entry, 'sandbox')?.needsScript === undefined)
    for (const { tool, outputSchema } of open) {
      if (tool.passes) continue
      expect(tool.caller, tool.name).toBe('anyone')
      expect(Object.keys((outputSchema['properties'] ?? {}) as object), tool.name).not.toContain('key')
    }
    expect(tryFacts(registry.find('gateway.keys.free')!, 'sandbox')?.needsScript).toBe('secret')
  })
})

describe('a line for a shell', () => {
  it('says the very JSON to the shell, whatever is in it', async () => {
    const body = { a: `it's $(touch /tmp/x) \`id\` "q" \\ \n !`, b: "'; rm -rf /tmp/none; '" }
    const line = curlOf(
      { method: 'POST', path: '/v1/x', body },
      { baseUrl: 'http://h', tokenIn: undefined, secret: [] },
    )
    const script = `curl() { for last; do :; done; printf %s "$last"; }\n${line}`
    const { stdout } = await promisify(execFile)('sh', ['-c', script])
    expect(JSON.parse(stdout)).toEqual(body)
  })

  it('names tokens and shows none', () => {
    const line = curlOf(
      { method: 'POST', path: '/v1/x', body: { secret: 'hunter2' } },
      { baseUrl: 'http://h', tokenIn: 'AGENT_GATEWAY_KEY', secret: ['secret'] },
    )
    expect(line).toContain('Bearer $AGENT_GATEWAY_KEY')
    expect(line).not.toContain('hunter2')
  })
})

describe('faults', () => {
  it('are read from a problem document alone', () => {
    expect(faultsOf({ fields: [{ pointer: '/a', message: 'm' }, { pointer: 1 }, null] })).toEqual([
      { pointer: '/a', message: 'm' },
    ])
    for (const body of [undefined, null, 'x', [], { fields: 'x' }]) expect(faultsOf(body)).toEqual([])
  })
})
