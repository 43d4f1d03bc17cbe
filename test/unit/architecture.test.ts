// Reads the import lines of the product and prints the first arrow that points up (see CONTRIBUTING).
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

interface Arrow {
  readonly from: string
  readonly to: string
  readonly typeOnly: boolean
}

const PARTS = [
  'egress',
  'actions',
  'edge',
  'email',
  'commerce',
  'outcomes',
  'receipts',
  'accounts',
  'store',
  'payments',
  'webfetch',
  'discovery',
  'outbound',
]
// Files of a part that touch the world outside its adapters folder.
const ADAPTERS = ['src/receipts/signer.ts']
const VOCABULARY = [
  'errors',
  'secret',
  'tokens',
  'ids',
  'log',
  'config',
  'json',
  'fault',
  'issues',
  'curl',
  'timestamp',
  'turns',
  'gathering',
]
const CONTRACTS = ['registry', 'services', 'authenticate', 'input', 'limits']

/** Height in the picture of the layers: a file imports its own folder or a lower number. */
function levelOf(path: string): number {
  const [top, second = '', third = ''] = path.split('/')
  if (top === 'schemas') return 0
  if (top === 'tools') return 3
  const isFile = second.endsWith('.ts')
  const name = second.replace(/\.ts$/, '')
  if (isFile && VOCABULARY.includes(name)) return 0
  if (second === 'data') return 0
  // Generated from the registry and everything described in it.
  if (second === 'documents') return 3
  if (ADAPTERS.includes(path)) return 4
  if (second === 'store' && third !== 'ports.ts') return 4
  if (second === 'doors') return 4
  if (PARTS.includes(second)) return third === 'adapters' ? 4 : 1
  if (isFile && CONTRACTS.includes(name)) return 2
  if (isFile && name === 'call') return 3
  return 5
}

/** What counts as one folder: a part with its sub-folders, a store, the doors together, the top of src file by file. */
function folderOf(path: string): string {
  const [top, second = '', third = ''] = path.split('/')
  if (top !== 'src') return top!
  if (second.endsWith('.ts')) return path
  if (third === 'adapters') return `src/${second}/adapters`
  return `src/${second}`
}

// Data and pure helpers of a part that others are built from. They must stay free of behaviour, and the list short.
const SHARED: Readonly<Record<string, string>> = {
  'src/commerce/bindings/compare.ts': 'what agrees with what, wherever payments are judged',
  'src/commerce/bindings/x402-rules.ts': 'what in an x402 payment has to agree, wherever it is judged',
  'src/commerce/protocols/x402-shape.ts': 'which x402 document it is, wherever one is read',
  'src/commerce/message.ts': 'a transaction of any protocol, read',
  'src/commerce/detect.ts': 'which protocols a transaction speaks',
  'src/commerce/bindings.ts': 'what in a transaction has to agree',
  'src/commerce/policy/domains.ts': 'whose host another one is',
  'src/commerce/policy/judge.ts': 'what the policy says about a transaction',
  'src/commerce/policy/model.ts': 'whether a message pays, or answers and offers',
  'src/commerce/policy/reasons.ts': 'the codes it says it with',
  'src/outcomes/descriptors.ts': 'what the catalogue says about live outcomes',
  'src/egress/providers.ts': 'the nine providers',
  'src/egress/target.ts': 'what a target is, in every part that goes out',
  'src/egress/address.ts': 'which addresses are public, in every part that goes out',
  'src/egress/digest.ts': 'digests that receipts and permits carry',
  'src/egress/request.ts': 'a request as it would be sent, and whether a scope covers it',
  'src/egress/scope.ts': 'what a scope covers',
  'src/egress/wire.ts': 'times and prices of attempts on the wire',
  'src/outbound/charset.ts': 'bytes as text, in every part that reads public pages',
  'src/outbound/adapters/dns-exchange.ts': 'one question to one DNS server, in every part that asks them',
  'src/outbound/dns-message.ts': 'what a DNS answer says, in every part that asks',
  'src/outbound/places.ts': 'places for what is scarce',
  'src/outbound/encoding.ts': 'content codings, in every part that reads public pages',
  'src/outbound/media-type.ts': 'what a Content-Type says',
  'src/outbound/numbers.ts': 'numbers that a double cannot hold',
  'src/outbound/public-request.ts': 'one request for a public page, in every part that reads them',
  'src/outbound/targets.ts': 'where a request may lead, in every part that reads public pages',
  'src/payments/quotes.ts': 'signed quotes, in every part that sells',
  'src/payments/networks.ts': 'the pinned networks and assets',
  'src/payments/requirements.ts': 'a price as the requirement that is signed for',
  'src/receipts/types.ts': 'types of signed documents',
  'src/store/ports.ts': 'what the gateway asks of a store',
}

/** Why the arrow is allowed, or undefined when it points up. */
function allow({ from, to, typeOnly }: Arrow): string | undefined {
  if (folderOf(from) === folderOf(to)) return 'own folder'
  const [low, high] = [levelOf(from), levelOf(to)]
  if (high < low) return 'lower number'
  if (high === 0 && low === 0) return 'vocabulary'
  if (low === 5) return 'wiring'
  if (low === 2 && high === 2) return 'contracts'
  if (typeOnly && high <= 2) return 'types of the contracts'
  if (typeOnly && to === 'src/doors/http.ts') return 'the type Addresses'
  return to in SHARED ? 'shared data' : undefined
}

function listFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
}

const IMPORT = /^(?:import|export)\s+(type\s+)?(?:([^'"]*?)\s+from\s+)?['"]([^'"]+)['"]/gm

interface Imported {
  readonly specifier: string
  readonly names: string
  readonly typeOnly: boolean
}

function readImports(source: string): Imported[] {
  const found = [...source.matchAll(IMPORT)].map(([, type, names = '', specifier]) => ({
    specifier: specifier!,
    names,
    typeOnly: type !== undefined || /^\{(?:\s*type\s+\w+(?:\s+as\s+\w+)?\s*,?)+\s*\}$/.test(names),
  }))
  const dynamic = [...source.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g)].map(([, specifier]) => ({
    specifier: specifier!,
    names: '*',
    typeOnly: false,
  }))
  return [...found, ...dynamic]
}

const files = ['src', 'tools', 'schemas'].flatMap(listFiles)
const sourceOf = new Map(files.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]))
const importsOf = (path: string) => readImports(sourceOf.get(path)!)
const arrows: Arrow[] = files.flatMap((from) =>
  importsOf(from)
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier, typeOnly }) => ({
      from,
      to: relative(ROOT, resolve(ROOT, dirname(from), specifier)),
      typeOnly,
    })),
)
const draw = ({ from, to, typeOnly }: Arrow) =>
  `${from} (${levelOf(from)}) ${typeOnly ? '..type..>' : '-->'} ${to} (${levelOf(to)})`

describe('direction of imports', () => {
  it('has no arrow that points up', () => {
    expect(arrows.length).toBeGreaterThan(100)
    expect(arrows.filter((arrow) => allow(arrow) === undefined).map(draw)[0]).toBeUndefined()
  })

  it('imports only files that exist, with their extension', () => {
    const known = new Set(files)
    expect(arrows.filter(({ to }) => to.endsWith('.ts') && !known.has(to)).map(draw)[0]).toBeUndefined()
  })

  it('keeps the list of shared files true', () => {
    for (const path of Object.keys(SHARED)) expect(sourceOf.has(path), path).toBe(true)
  })

  it.each<[string, Arrow]>([
    [
      'a rule that imports a door',
      { from: 'src/egress/forward.ts', to: 'src/doors/rest.ts', typeOnly: false },
    ],
    [
      'a rule that imports an adapter',
      { from: 'src/egress/forward.ts', to: 'src/egress/adapters/dns.ts', typeOnly: false },
    ],
    [
      'a part that imports another part',
      { from: 'src/egress/a.ts', to: 'src/outcomes/index.ts', typeOnly: false },
    ],
    ['the call path that imports a door', { from: 'src/call.ts', to: 'src/doors/mcp.ts', typeOnly: true }],
    ['vocabulary that imports a contract', { from: 'src/errors.ts', to: 'src/registry.ts', typeOnly: false }],
    ['a tool that imports a store', { from: 'tools/x.ts', to: 'src/store/index.ts', typeOnly: false }],
    ['a tool that imports the composition', { from: 'tools/x.ts', to: 'src/gateway.ts', typeOnly: false }],
  ])('would report %s', (_, arrow) => {
    expect(allow(arrow)).toBeUndefined()
  })

  it('tells type imports from others', () => {
    const source = `import type { A } from './a.ts'\nimport { type B, type C } from './b.ts'\nimport { type D, e } from './c.ts'
import {\n  type F,\n  type G as H,\n} from './d.ts'\nexport * from './e.ts'\nimport './f.ts'\nconst g = await import('./g.ts')`
    expect(readImports(source).map(({ specifier, typeOnly }) => `${specifier} ${typeOnly}`)).toEqual([
      './a.ts true',
      './b.ts true',
      './c.ts false',
      './d.ts true',
      './e.ts false',
      './f.ts false',
      './g.ts false',
    ])
  })
})

describe('rules stay pure', () => {
  const rules = files.filter((path) => levelOf(path) <= 1 && !/^src\/(?:config|ids|log)\.ts$/.test(path))
  const WORLD =
    /^(?:node:)?(?:net|http|https|http2|tls|dns|dgram|fs|child_process|worker_threads|sqlite|cluster)(?:\/|$)|^(?:undici|pg|lowdb|express|kysely)(?:\/|$)/

  // node:net also holds pure functions over addresses.
  const ADDRESS_MATHS = /^\{(?:\s*(?:isIP|isIPv4|isIPv6|BlockList|type BlockList)\s*,?)+\s*\}$/

  it('reach no network, disk or process', () => {
    const reaching = rules.flatMap((path) =>
      importsOf(path)
        .filter(
          ({ specifier, names, typeOnly }) =>
            !typeOnly && WORLD.test(specifier) && !ADDRESS_MATHS.test(names),
        )
        .map(({ specifier }) => `${path} --> ${specifier}`),
    )
    expect(reaching).toEqual([])
  })

  it('read no clock: time is an argument', () => {
    const reading = rules.filter((path) =>
      /\bDate\.now\(\)|\bnew Date\(\)|\bperformance\.now\(/.test(sourceOf.get(path)!),
    )
    expect(reading).toEqual([])
  })

  it('leave the environment to loadConfig', () => {
    const readers = files.filter((path) => /\bprocess\.env\b/.test(sourceOf.get(path)!) && levelOf(path) < 5)
    expect(readers).toEqual([])
  })
})
