// The collected bypass cases against the rules, each row by its layer. A live resolver answers the sequence row.
import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { createResolver } from '../../../src/egress/adapters/dns.ts'
import { createAddressPolicy } from '../../../src/egress/address.ts'
import { pickRequestHeaders } from '../../../src/egress/headers.ts'
import { checkScope } from '../../../src/egress/scope.ts'
import { parseTarget } from '../../../src/egress/target.ts'
import type { Scope } from '../../../schemas/http.ts'
import { startDnsServer } from '../../support/dns-server.ts'

interface Row {
  readonly verdict: 'ALLOW' | 'DENY'
  readonly layer: string
  readonly input: unknown
}

const rows: Row[] = readFileSync(new URL('../../data/egress-cases.tsv', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const [verdict, layer, input] = line.split('\t')
    return { verdict: verdict as Row['verdict'], layer: layer!, input: JSON.parse(input!) as unknown }
  })

const policy = createAddressPolicy([])
const ports = [443]
const methods: Scope['methods'] = ['GET']

function isTargetAllowed(text: string, scope?: Scope): boolean {
  const target = parseTarget(text, { ports })
  return target.ok && (scope === undefined || checkScope(scope, { ...target, method: 'GET' }).ok)
}

const judges: Readonly<Record<string, (input: never) => boolean>> = {
  url: (text: string) =>
    isTargetAllowed(text, { hosts: ['api.example.com'], path_prefixes: ['/v1'], methods }),
  'url-public': (text: string) => isTargetAllowed(text),
  addr: (address: string) => policy.classify(address).ok,
  path: (path: string) =>
    isTargetAllowed(`https://api.example.com${path}`, {
      hosts: ['api.example.com'],
      path_prefixes: ['/v1/charges'],
      methods,
    }),
  header(line: string) {
    const colon = line.indexOf(':')
    try {
      pickRequestHeaders({ [line.slice(0, colon)]: line.slice(colon + 1).trimStart() })
      return true
    } catch {
      return false
    }
  },
  dns: (addresses: string[]) => addresses.every((address) => policy.classify(address).ok),
}

const closers: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closers) await close()
})

describe('every collected bypass case gets its verdict', () => {
  test('and all of them are read', () => expect(rows).toHaveLength(238))

  test.each(rows.filter(({ layer }) => layer !== 'dns-seq'))('$verdict $layer $input', (row) => {
    expect(judges[row.layer]!(row.input as never)).toBe(row.verdict === 'ALLOW')
  })

  test('a name that answers differently the second time is asked once', async () => {
    const [row] = rows.filter(({ layer }) => layer === 'dns-seq')
    const sequence = row!.input as string[][]
    const dns = await startDnsServer()
    closers.push(() => dns.close())
    dns.set('api.example.com', (type, before) => (type === 'A' ? { A: sequence[before]! } : {}))
    const addresses = await createResolver([dns.address]).resolve('api.example.com', 5000)
    expect(addresses).toEqual(sequence[0])
    expect(dns.queries.map(({ type }) => type).toSorted()).toEqual(['A', 'AAAA'])
  })
})
