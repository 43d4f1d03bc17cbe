// The part of the door's core that its offers are made of: they are a part of the core themselves.
import type { DoorParts } from '../parts.ts'
import type { Catalogue } from './catalogue.ts'
import type { Link } from './link.ts'
import type { View } from './lists.ts'
import type { Spelling } from './names.ts'

export interface OfferCore {
  readonly parts: DoorParts
  readonly catalogue: Catalogue
  spellingOf(link: Link): Spelling
  viewOf(link: Link): Promise<View>
}
