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

/**
 * The rooms, from the ground up: a file imports its own room or a lower floor, never a neighbour and never upwards.
 * docs/architecture.md says what each room decides.
 */
const FLOORS: readonly (readonly string[])[] = [
  ['schemas', 'src/lib', 'src/data'],
  ['src/store'],
  ['src/core'],
  ['src/receipts', 'src/accounts', 'src/interception'],
  ['src/audit'],
  ['src/egress'],
  ['src/commerce', 'src/actions', 'src/outbound'],
  ['src/payments', 'src/email', 'src/edge', 'src/identity', 'src/notifications'],
  ['src/outcomes', 'src/webfetch', 'src/discovery', 'src/market', 'src/sandbox', 'src/policies'],
  ['tools', 'src/documents'],
  ['src/doors'],
  ['src/telemetry'],
  ['src/app'],
  ['src/cli'],
]

/** Debts: files that a lower floor imports all the same, each with its reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'src/core/errors.ts': 'the one table of codes, which every room throws from',
}
const MOST_EXCEPTIONS = 5

/** `src/egress/adapters/dns.ts` -> `src/egress`; `tools/execute.ts` -> `tools`. */
function roomOf(path: string): string {
  const [top, second = ''] = path.split('/')
  return top === 'src' ? `src/${second}` : top!
}

function floorOf(path: string): number {
  const floor = FLOORS.findIndex((rooms) => rooms.includes(roomOf(path)))
  if (floor < 0) throw new Error(`${path} lies in no room of FLOORS`)
  return floor
}

const isAdapter = (path: string) => path.split('/')[2] === 'adapters'

/** Why the arrow is allowed, or undefined when it points up, to a neighbour, or past a part's own front. */
function allow({ from, to }: Arrow): string | undefined {
  if (to in EXCEPTIONS) return 'exception'
  const isOwn = roomOf(from) === roomOf(to)
  if (!isOwn && floorOf(to) >= floorOf(from)) return undefined
  // Adapters touch the world; rules are given what they need of it by the composition.
  const composes = isAdapter(from) || floorOf(from) >= floorOf('src/app/') || roomOf(from) === 'src/sandbox'
  if (isAdapter(to) && !composes) return undefined
  return isOwn ? 'own room' : 'lower floor'
}

function listFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
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
/** The first way that leads back to where it began, types included. */
function findCircle(among: readonly Arrow[]): readonly string[] | undefined {
  const next = Map.groupBy(among, ({ from }) => from)
  const done = new Set<string>()
  const walk = (path: readonly string[]): readonly string[] | undefined => {
    const at = path.at(-1)!
    const start = path.indexOf(at)
    if (start < path.length - 1) return path.slice(start)
    if (done.has(at)) return undefined
    for (const { to } of next.get(at) ?? []) {
      const found = walk([...path, to])
      if (found) return found
    }
    done.add(at)
    return undefined
  }
  for (const from of next.keys()) {
    const found = walk([from])
    if (found) return found
  }
  return undefined
}

const draw = ({ from, to, typeOnly }: Arrow) =>
  `${from} (${floorOf(from)}) ${typeOnly ? '..type..>' : '-->'} ${to} (${floorOf(to)})`

describe('direction of imports', () => {
  it('has no arrow that points up', () => {
    expect(arrows.length).toBeGreaterThan(100)
    expect(arrows.filter((arrow) => allow(arrow) === undefined).map(draw)[0]).toBeUndefined()
  })

  it('imports only files that exist, with their extension', () => {
    const known = new Set(files)
    expect(arrows.filter(({ to }) => to.endsWith('.ts') && !known.has(to)).map(draw)[0]).toBeUndefined()
  })

  it('has few exceptions, of files that exist and that somebody imports', () => {
    expect(Object.keys(EXCEPTIONS).length).toBeLessThanOrEqual(MOST_EXCEPTIONS)
    for (const path of Object.keys(EXCEPTIONS))
      expect(
        arrows.some(
          ({ from, to }) => to === path && floorOf(from) <= floorOf(to) && roomOf(from) !== roomOf(to),
        ),
        path,
      ).toBe(true)
  })

  it('goes round in no circle', () => {
    expect(findCircle(arrows)).toBeUndefined()
    const round = [
      { from: 'a', to: 'b', typeOnly: true },
      { from: 'b', to: 'c', typeOnly: false },
      { from: 'c', to: 'b', typeOnly: false },
    ]
    expect(findCircle(round)).toEqual(['b', 'c', 'b'])
  })

  it.each<[string, string, string]>([
    ['a rule that imports a door', 'src/egress/forward.ts', 'src/doors/rest/index.ts'],
    ['a rule that imports an adapter', 'src/egress/forward.ts', 'src/egress/adapters/dns.ts'],
    ['a part that imports its neighbour', 'src/outcomes/index.ts', 'src/webfetch/fetch.ts'],
    ['a part that imports a higher one', 'src/egress/run.ts', 'src/payments/gate.ts'],
    ['core that imports a part', 'src/core/call.ts', 'src/payments/ports.ts'],
    ['a store that imports core', 'src/store/index.ts', 'src/core/config.ts'],
    ['a helper that imports core', 'src/lib/ids.ts', 'src/core/registry.ts'],
    ['a tool that imports a door', 'tools/x.ts', 'src/doors/http/reply.ts'],
    ['a tool that imports the composition', 'tools/x.ts', 'src/app/gateway.ts'],
  ])('would report %s', (_, from, to) => {
    expect(allow({ from, to, typeOnly: false })).toBeUndefined()
    expect(allow({ from, to, typeOnly: true })).toBeUndefined()
  })

  it('would allow the nearest arrows that point down', () => {
    for (const [from, to] of [
      ['src/egress/forward.ts', 'src/egress/run.ts'],
      ['src/egress/adapters/dns.ts', 'src/egress/address.ts'],
      ['src/webfetch/fetch.ts', 'src/outbound/targets.ts'],
      ['tools/x.ts', 'src/core/registry.ts'],
      ['src/app/gateway.ts', 'src/egress/adapters/dns.ts'],
    ] as const)
      expect(allow({ from, to, typeOnly: false }), `${from} --> ${to}`).toBeDefined()
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
  const WORLDLY = new Set(['src/lib/ids.ts', 'src/lib/log.ts'])
  const rules = files.filter(
    (path) =>
      floorOf(path) < floorOf('tools/') &&
      !isAdapter(path) &&
      !['src/store', 'src/sandbox'].includes(roomOf(path)) &&
      !WORLDLY.has(path),
  )
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
    const readers = files.filter(
      (path) => /\bprocess\.env\b/.test(sourceOf.get(path)!) && floorOf(path) < floorOf('src/app/'),
    )
    expect(readers).toEqual([])
  })
})
