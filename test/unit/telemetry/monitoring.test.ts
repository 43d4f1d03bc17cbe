// The dashboard and the rules of deploy/monitoring speak of metrics, labels, codes and pages that there are.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ERRORS } from '../../../src/core/errors.ts'
import { CALL_FAULTS } from '../../../src/telemetry/observe-calls.ts'
import { INSTRUMENTS, type InstrumentName, seriesOf } from '../../../src/telemetry/instruments.ts'

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')

interface Rule {
  readonly record?: string
  readonly alert?: string
  readonly expr: string
  readonly annotations?: { readonly runbook: string }
}
interface Panel {
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
}
const { groups } = parse(read('deploy/monitoring/rules/agent-gateway.rules.yml')) as {
  groups: { rules: Rule[] }[]
}
const rules = groups.flatMap((group) => group.rules)
const alerts = rules.filter(({ alert }) => alert !== undefined)
const dashboard = JSON.parse(read('deploy/monitoring/grafana/agent-gateway.json')) as {
  panels: Panel[]
  templating: { list: { query: string | { query: string } }[] }
}
const slo = read('docs/slo.md')

const names = Object.keys(INSTRUMENTS) as InstrumentName[]
const SERIES = new Set([
  ...names.flatMap(seriesOf),
  ...rules.flatMap(({ record }) => record ?? []),
  // Of Prometheus itself.
  'up',
])
const LABELS = new Set([
  ...names.flatMap((name) => INSTRUMENTS[name].labels).map((label) => label.replaceAll('.', '_')),
  'le',
  'job',
  'instance',
])
const WORDS = new Set(
  'sum min max rate min_over_time max_over_time avg_over_time topk histogram_quantile vector resets by and or unless count absent increase on'.split(
    ' ',
  ),
)

/** The names in an expression: of series, and of the labels that it chooses or groups by. */
function namesIn(expr: string): { series: string[]; labels: string[] } {
  const labels: string[] = []
  const plain = expr
    .replaceAll(/"[^"]*"/g, '""')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/\{([^}]*)\}/g, (_all, inside: string) => {
      labels.push(...[...inside.matchAll(/(\w+)\s*[=!]/g)].map(([, label]) => label!))
      return ''
    })
    .replaceAll(/\b(?:by|on)\s*\(([^)]*)\)/g, (_all, inside: string) => {
      labels.push(...inside.split(',').map((label) => label.trim()))
      return ''
    })
  const series = [...plain.matchAll(/[a-zA-Z_:][\w:]*/g)]
    .map(([word]) => word)
    .filter((word) => !WORDS.has(word))
  return { series, labels }
}

/** Of whom a selector takes a series: without it, of every service in the same Prometheus, whose names are those of the same conventions. */
function unscopedIn(expr: string): string[] {
  const scoped = [...expr.matchAll(/([a-zA-Z_:][\w:]*)\{((?:"[^"]*"|[^"}])*)\}/g)]
    .filter(([, , inside]) => inside!.split(',').includes('job="agent-gateway"'))
    .map(([, name]) => name!)
  // Those of recording rules are made of the gateway's alone.
  return namesIn(expr).series.filter((name) => {
    if (name.startsWith('agent_gateway:')) return false
    const at = scoped.indexOf(name)
    if (at !== -1) scoped.splice(at, 1)
    return at === -1
  })
}

const expressions: (readonly [where: string, expr: string])[] = [
  ...rules.map(({ record, alert, expr }) => [record ?? alert ?? '', expr] as const),
  ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [title, expr] as const)),
]

describe('monitoring', () => {
  it('has expressions, and reads them as Prometheus does', () => {
    expect(expressions.length).toBeGreaterThan(70)
    expect(namesIn('sum by (le, job) (rate(a_bucket{x="c{d}",y!~"e"}[5m])) / 2 > b:c')).toEqual({
      series: ['a_bucket', 'b:c'],
      labels: ['x', 'y', 'le', 'job'],
    })
  })

  it.each(expressions)('%s names metrics and labels that there are', (_where, expr) => {
    const { series, labels } = namesIn(expr)
    expect(series).not.toEqual([])
    expect(series.filter((name) => !SERIES.has(name))).toEqual([])
    expect(labels.filter((name) => !LABELS.has(name))).toEqual([])
  })

  it.each(expressions)('%s takes the series of the gateway alone', (_where, expr) => {
    expect(unscopedIn(expr)).toEqual([])
  })

  it('sees a selector that takes those of others', () => {
    expect(unscopedIn('a{job="agent-gateway"} / sum(rate(a[5m])) + b{job="shop"} > agent_gateway:c')).toEqual(
      ['a', 'b'],
    )
    expect(unscopedIn('a{x="job=\\"agent-gateway\\"",y="z"}')).toEqual(['a'])
  })

  it('offers the processes of the gateway alone', () => {
    const asked = dashboard.templating.list.flatMap(({ query }) =>
      typeof query === 'string' ? [] : [/^label_values\((.*), \w+\)$/.exec(query.query)![1]!],
    )
    expect(asked).toHaveLength(1)
    expect(asked.flatMap(unscopedIn)).toEqual([])
  })

  it('counts codes that callers can hear, each a fault of the gateway', () => {
    const [, codes = ''] = /agent_gateway_code=~"([^"]+)"/.exec(rules[0]!.expr)!
    const statuses = codes.split('|').map((code) => ERRORS[code as keyof typeof ERRORS]?.status)
    expect(codes.split('|')).toEqual(CALL_FAULTS)
    expect(statuses).toHaveLength(4)
    expect(statuses.every((status) => status >= 500)).toBe(true)
    for (const code of codes.split('|')) expect(slo).toContain(`\`${code}\``)
  })

  it('leads from each alert to a section that names it', () => {
    const anchors = new Set(
      [...slo.matchAll(/^## (.*)$/gm)].map(([, title]) => title!.toLowerCase().replaceAll(' ', '-')),
    )
    expect(alerts).toHaveLength(27)
    for (const { alert, annotations } of alerts) {
      const [page, anchor] = annotations!.runbook.split('#')
      expect(page).toBe('docs/slo.md')
      expect([...anchors]).toContain(anchor)
      expect(slo, alert).toContain(`\`${alert!.replace(/(?:Fast|Slow|Drip)$/, '…')}\``)
    }
  })

  it('tries each alert in the tests of promtool', () => {
    const tried = read('deploy/monitoring/rules/agent-gateway.test.yml')
    const untried = alerts
      .map(({ alert }) => alert!)
      .filter((alert) => !tried.includes(`alertname: ${alert}\n`))
    // Those differ from the Fast ones of the same objective in windows and factor alone.
    expect(untried.filter((alert) => !/(?:Slow|Drip)$/.test(alert))).toEqual([])
  })

  it('shows every instrument on the dashboard', () => {
    const shown = new Set(expressions.flatMap(([, expr]) => namesIn(expr).series))
    expect(names.filter((name) => !seriesOf(name).some((one) => shown.has(one)))).toEqual([])
  })
})
