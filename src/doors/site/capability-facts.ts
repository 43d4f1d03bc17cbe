// The capabilities of the catalogue as data for pages: the descriptors that programs read, with the tool that carries each out.
import type { DoorName } from '../../core/tool.ts'
import type { RegisteredTool } from '../../core/registry.ts'
import { isObject } from '../../lib/json.ts'
import type { CatalogueRow } from './components/catalogue.tsx'
import type { PriceFacts } from './components/price.tsx'
import type { SiteParts } from './ports.ts'
import { beginningOf, priceFacts } from './tool-facts.ts'

type Json = Readonly<Record<string, unknown>>

/** An entry of the catalogue, to the field table of the specification (documents/catalogue.ts). */
export interface Descriptor {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly when_to_use: string
  readonly limitations: readonly string[]
  readonly latency_note: string
  readonly pricing: Json
  readonly input_schema: Json
  readonly output_schema: Json
  readonly execute_url: string
  readonly schema_url: string
  readonly example: Json
  readonly mappings: Json
}

export interface Capability {
  readonly descriptor: Descriptor
  /** The tool that carries it out. */
  readonly entry: RegisteredTool
  readonly price: PriceFacts
}

/** Every capability of the catalogue whose tool is served, in its order. */
export function capabilitiesOf({
  documents,
  registry,
}: Pick<SiteParts, 'documents' | 'registry'>): readonly Capability[] {
  const { tools } = documents.catalogue()
  // The catalogue's own tests hold its entries to this shape.
  const entries = (Array.isArray(tools) ? tools : []) as readonly Descriptor[]
  return entries.flatMap((descriptor) => {
    const entry = registry.find(toolOf(descriptor))
    if (!entry) return []
    const skill = entry.tool.skills.find(({ id }) => id === descriptor.id)
    return [{ descriptor, entry, price: priceFacts(skill?.price ?? entry.tool.price) }]
  })
}

function toolOf({ mappings }: Descriptor): string {
  const { mcp } = mappings
  return isObject(mcp) ? String(mcp['tool']) : ''
}

interface ListedCapability {
  readonly row: CatalogueRow
  readonly doors: readonly DoorName[]
  readonly words: { readonly name: string; readonly tags: readonly string[]; readonly description: string }
}

/** Rows of the catalogue page, with the words that they are found by. */
export const capabilityRows = (
  site: Pick<SiteParts, 'documents' | 'registry'>,
): readonly ListedCapability[] =>
  capabilitiesOf(site).map(({ descriptor, entry: { tool }, price }) => {
    const { id, name, description, when_to_use: use } = descriptor
    const skill = tool.skills.find((skill) => skill.id === id) ?? tool.skills[0]
    return {
      row: {
        kind: 'capability',
        name: id,
        title: name,
        summary: beginningOf(description),
        path: `/capabilities/${id}`,
        caller: tool.caller,
        price,
        toolset: tool.toolset,
      },
      doors: tool.doors,
      words: {
        name: `${name} ${id}`,
        tags: skill?.tags ?? [],
        description: `${description} ${use} ${skill?.examples.join(' ') ?? ''}`,
      },
    }
  })
