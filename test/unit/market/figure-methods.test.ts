// The page of figures, the guide and the schema speak of the same figures.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { MarketConcentration, MarketFigures } from '../../../schemas/market.ts'
import { FIGURE_METHODS } from '../../../src/documents/market.ts'
import { figuresOf } from '../../../src/market/trust/figures.ts'

const guide = readFileSync(new URL('../../../docs/guides/market-figures.md', import.meta.url), 'utf8')
const last = (figure: string) => figure.split('.').at(-1) ?? figure

describe('the method of each figure', () => {
  it('stands on the page and in the guide, and is of a figure that there is', () => {
    const figures = {
      ...MarketFigures.parse(figuresOf(undefined, undefined, { network: 'eip155:8453', at: null })),
      concentration: MarketConcentration.shape,
    }
    for (const { figure } of FIGURE_METHODS) {
      expect(guide, figure).toContain(last(figure))
      const [first = '', second] = figure.split('.')
      const value: unknown = Reflect.get(figures, first)
      expect(second === undefined ? value : Reflect.get(Object(value), second), figure).not.toBeUndefined()
    }
  })

  it('says of whose money counts, and of who rates, what the guide says', () => {
    const same = FIGURE_METHODS.filter(({ figure }) => /^(?:excluded\.|ratings$)/.test(figure))
    expect(same).toHaveLength(4)
    for (const { words } of same) expect(guide).toContain(/^.*?\./.exec(words)?.[0])
  })

  it('is left out of none', () => {
    const documented = FIGURE_METHODS.map(({ figure }) => figure.split('.')[0])
    const shown = Object.keys(MarketFigures.shape).filter(
      (name) => !['environment', 'computed_at', 'probes_30_days'].includes(name),
    )
    expect(shown.filter((name) => !documented.includes(name))).toEqual([])
  })
})
