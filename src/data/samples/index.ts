// Sample sources in one place: the sandbox's site serves all of them, and a demo of a paid capability reads some.
import { hardwareFeed, softwareFeed } from './feeds.ts'
import type { SamplePage } from './page.ts'
import { aboutShop, kettle, senchaA, senchaB, senchaDollars, teaList } from './shop.ts'
import { teaArabic, teaNotes, teaOldCharset, teaOne, teaThree, teaTwo } from './tea.ts'

export type { SamplePage } from './page.ts'

const makers = [
  teaOne,
  teaTwo,
  teaThree,
  teaArabic,
  teaOldCharset,
  teaNotes,
  senchaA,
  senchaB,
  senchaDollars,
  kettle,
  aboutShop,
  teaList,
  hardwareFeed,
  softwareFeed,
]

/** @param origin that they are served from, e.g. `https://samples.example`; by path */
export function samplePages(origin: string): ReadonlyMap<string, SamplePage> {
  return new Map(makers.map((make) => make(origin)).map((page) => [page.path, page]))
}
