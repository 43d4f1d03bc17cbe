// What a caller reads who wrote a field in the wrong form: how to write it, not the pattern it was held against.
import { hideNames } from '../../../src/commerce/secrets/places.ts'
import { describe, expect, it } from 'vitest'
import { parseInput } from '../../../src/core/input.ts'
import { createRegistry } from '../../../src/core/registry.ts'
import { tools } from '../../../tools/index.ts'

const registry = createRegistry(tools)
const example = (name: string) => registry.find(name)!.tool.examples[0]!.input as Record<string, unknown>

describe('a field in the wrong form', () => {
  it.each<[tool: string, input: Record<string, unknown>, words: RegExp]>([
    ['gateway.edge.check', { host: 'https://shop.example.com/' }, /must be an exact host name/],
    ['gateway.edge.check', { host: 'Shop.example.com' }, /lower-case/],
    [
      'gateway.actions.mandates.create',
      { ...example('gateway.actions.mandates.create'), path_prefix: 'repos' },
      /must begin with \//,
    ],
    [
      'gateway.actions.mandates.create',
      { ...example('gateway.actions.mandates.create'), max_calls: undefined },
      /limits `max_calls` or `max_credits`, or both/,
    ],
    ['gateway.actions.approve', { permit_id: 'pmt one' }, /must be an id as the gateway gave it/],
  ])('of %s is refused in words: %j', (name, input, words) => {
    const parse = () => parseInput(registry.find(name)!.tool, input, { hideNames })
    expect(parse).toThrow(words)
    expect(parse).not.toThrow(/pattern/)
  })
})
