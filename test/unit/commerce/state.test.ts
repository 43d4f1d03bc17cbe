// Nothing of a transaction is kept: what is known of one is in its analysis, and goes with it.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { analyse } from '../../../src/commerce/analysis.ts'
import { readMessage } from '../../../src/commerce/message.ts'
import { PROTOCOLS } from '../../../src/commerce/protocols.ts'
import { KINDS } from '../../data/commerce/kinds.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { wire } from '../../support/commerce.ts'

const ROOM = join(import.meta.dirname, '../../../src/commerce')
const files = readdirSync(ROOM, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))

/** What a module could keep something in: a variable, or a collection that begins empty or that somebody writes to. */
function findState(source: string): string[] {
  const names = [...source.matchAll(/^(?:export )?const (\w+)(?::[^=\n]*)? =/gm)].map(([, name = '']) => name)
  return [
    ...source.matchAll(/^(?:export )?(?:let|var)\b.*/gm),
    ...source.matchAll(
      /^(?:export )?const .*(?:new (?:WeakMap|WeakSet|WeakRef)\b|new (?:Map|Set)\b[^(]*\(\)).*/gm,
    ),
    ...source.matchAll(/^(?:export )?const \w+(?::[^=\n]*)? = (?:\[\]|\{\})$/gm),
    ...names.flatMap((name) => [
      ...source.matchAll(
        new RegExp(
          String.raw`(?<![\w.])${name}(?:\.(?:set|add|push|delete|clear)\(|\[[^\]]*\] (?:\?\?)?=(?!=))`,
          'g',
        ),
      ),
    ]),
  ].map(([line]) => line)
}

describe('a module of this room', () => {
  it.each<[string, number]>([
    ['let last: Outline | undefined', 1],
    ['export let last = undefined', 1],
    ['const known = new WeakMap<object, string>()', 1],
    ['const known = new Map<string, string>()', 1],
    ['const seen: string[] = []', 1],
    ['const known = new Map([[1, 2]])\nexport const f = () => known.set(3, 4)', 1],
    ['const RANKS: Record<string, number> = { a: 1 }\nconst f = () => { RANKS[key] = 2 }', 1],
    ["const NAMES = new Set(['a'])\nconst f = () => {\n  const found = new Map()\n  found.set(1, 2)\n}", 0],
  ])('keeps something by %j: %i', (source, count) => {
    expect(findState(source)).toHaveLength(count)
  })

  it.each(files)('%s keeps nothing', (name) => {
    expect(findState(readFileSync(join(ROOM, name), 'utf8'))).toEqual([])
  })
})

const ALL = [...Object.values(SAMPLES), ...Object.values(KINDS).map(({ source }) => source)].map((source) =>
  wire(source),
)
const write = (value: unknown) => JSON.stringify(value)

describe('an analysis', () => {
  it('of a message is the same whatever was analysed in between', () => {
    const alone = ALL.map((input) => write(analyse(readMessage(input))))
    const messages = ALL.map((input) => readMessage(input))
    for (const [index, message] of messages.entries()) {
      const other = messages.at(index - 1)
      if (other !== undefined) analyse(other)
      expect(write(analyse(message))).toBe(alone[index])
    }
  })

  it('reads a layer in the message it is asked about, also where the layer is that of another', () => {
    // The reading of a layer was once remembered by the layer alone.
    const messageFor = (tool: string) => {
      const { body, ...rest } = wire(SAMPLES['x402-mcp']!)
      const rpc = body as { readonly params: object }
      return analyse(
        readMessage({
          ...rest,
          body: { ...rpc, params: { ...rpc.params, name: tool } },
        }),
      )
    }
    const [one, other] = [messageFor('weather'), messageFor('news')]
    const x402 = PROTOCOLS.find(({ name }) => name === 'x402')
    const sighting = x402?.detect(one)
    if (x402 === undefined || sighting === undefined) throw new Error('the sample is no x402')
    const toolOf = (reading: typeof one) => x402.read(sighting, reading)
    expect(toolOf(one)).toMatchObject({ toolName: { value: 'weather' } })
    expect(toolOf(other)).toMatchObject({ toolName: { value: 'news' } })
  })
})
