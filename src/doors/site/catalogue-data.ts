// The catalogue as data: everything that the registry and the catalogue of capabilities list, searched and filtered.
import { isPaid } from '../../core/price.ts'
import type { Registry } from '../../core/registry.ts'
import type { DoorName } from '../../core/tool.ts'
import { indexDocuments, type SearchIndex } from '../../lib/text-search.ts'
import { weighWords } from '../../lib/search-words.ts'
import type { CatalogueGoal, CatalogueList, CatalogueRow } from './components/catalogue.tsx'
import { nearestNames } from './nearest-names.ts'
import type { SiteParts } from './ports.ts'
import { capabilityRows } from './capability-facts.ts'
import { toolRow } from './tool-facts.ts'

/** A row with what it is found by. */
interface Listed {
  readonly row: CatalogueRow
  readonly doors: readonly DoorName[]
  readonly words: { readonly name: string; readonly tags: readonly string[]; readonly description: string }
}

interface Shelves {
  readonly listed: readonly Listed[]
  readonly goals: readonly CatalogueGoal[]
  readonly index: SearchIndex
  readonly goalIndex: SearchIndex
}

const MAX_QUERY = 200
const known = new WeakMap<Registry, Promise<Shelves>>()

/** What a catalogue page lists for its query (`q`, `who`, `price`, `door`); values that mean nothing filter nothing. */
export async function listCatalogue(site: SiteParts, given: URLSearchParams): Promise<CatalogueList> {
  const opening = known.get(site.registry) ?? open(site)
  known.set(site.registry, opening)
  const { listed, goals, index, goalIndex } = await opening
  const query = {
    q: (given.get('q') ?? '').trim().slice(0, MAX_QUERY),
    who: choice(given.get('who'), ['anyone', 'key']),
    price: choice(given.get('price'), ['free', 'paid', 'credits']),
    door: choice(given.get('door'), ['rest', 'mcp', 'a2a']),
  }
  const isRanked = query.q !== ''
  const fits = ({ row, doors }: Listed) =>
    (query.who === '' || (query.who === 'anyone') === (row.caller === 'anyone')) &&
    (query.price === '' || row.price.kind === (query.price === 'paid' ? 'x402' : query.price)) &&
    (query.door === '' || doors.some((door) => door === query.door))
  const found = isRanked ? ranked(index, query.q, listed) : listed
  const results = found.filter(fits).map(({ row }) => row)
  const isFiltered = query.who + query.price + query.door !== ''
  const shownGoals = isRanked ? ranked(goalIndex, query.q, goals) : goals
  const all = listed.map(({ row }) => row)
  return {
    query,
    counts: {
      tools: all.filter(({ kind }) => kind === 'tool').length,
      capabilities: all.filter(({ kind }) => kind === 'capability').length,
    },
    is_ranked: isRanked,
    results,
    goals: isFiltered ? [] : shownGoals,
    nearest: isRanked && results.length === 0 ? nearest(query.q, all) : [],
  }
}

const choice = (value: string | null, values: readonly string[]): string =>
  value !== null && values.includes(value) ? value : ''

/** Best first; what has all words of the query before what has some of them, and only that where there is any. */
function ranked<T>(index: SearchIndex, query: string, entries: readonly T[]): T[] {
  const hits = index.find(query).toSorted((a, b) => b.score - a.score || a.at - b.at)
  const [best] = hits
  const least = best && best.score > ALL_WORDS ? ALL_WORDS : 0
  return hits
    .filter(({ score }) => score > least)
    .slice(0, MAX_RESULTS)
    .flatMap(({ at }) => entries[at] ?? [])
}

/** Scores above this have every word of the query (text-search.ts). */
const ALL_WORDS = 1_000_000
const MAX_RESULTS = 60

function nearest(query: string, rows: readonly CatalogueRow[]): CatalogueRow[] {
  const byName = new Map(rows.map((row) => [row.name, row]))
  return nearestNames(query, new Map(rows.map(({ name, title }) => [name, title]))).flatMap(
    (name) => byName.get(name) ?? [],
  )
}

async function open(site: SiteParts): Promise<Shelves> {
  const { registry, addresses, skills = [] } = site
  const tools = registry.tools.map((entry): Listed => {
    const { tool } = entry
    const { name, title, summary, caller, price, toolset } = toolRow(entry)
    return {
      row: { kind: 'tool', name, title, summary, caller, price, toolset, path: `/tools/${name}` },
      doors: tool.doors,
      words: {
        name: `${title} ${name}`,
        tags: [
          toolset,
          ...tool.skills.flatMap(({ id, tags }) => [id, ...tags]),
          isPaid(tool) ? 'paid usdc x402' : price.kind,
        ],
        description: `${tool.summary} ${tool.skills.flatMap(({ examples }) => examples).join(' ')}`,
      },
    }
  })
  const listed = [...capabilityRows(site), ...tools]
  const goals = skills.map(({ name, description }) => ({
    name,
    description,
    url: `${addresses.baseUrl}/skills/${name}/SKILL.md`,
  }))
  return {
    listed,
    goals,
    index: await indexDocuments(listed.map(({ row, words }) => weighWords({ ...words, url: row.path }))),
    goalIndex: await indexDocuments(
      goals.map(({ name, description }) => weighWords({ name, description, tags: [], url: '' })),
    ),
  }
}
