// Which file draws which page; each is loaded when it is first asked for.
import type { AnyPage } from '../ports.ts'
import type { PageName } from '../routes.ts'

export const PAGES: Readonly<Record<PageName, () => Promise<{ readonly page: AnyPage }>>> = {
  home: () => import('./home.tsx'),
  catalogue: () => import('./catalogue.tsx'),
  tool: () => import('./tool.tsx'),
  capability: () => import('./capability.tsx'),
  marketplace: () => import('./marketplace.tsx'),
  sell: () => import('./sell.tsx'),
  figures: () => import('./figures.tsx'),
  seller: () => import('./seller.tsx'),
  service: () => import('./service.tsx'),
  discovery: () => import('./discovery.tsx'),
  receipt: () => import('./receipt.tsx'),
  verify: () => import('./verify.tsx'),
  test: () => import('./test.tsx'),
  status: () => import('./status.tsx'),
  docs: () => import('./docs.tsx'),
  guide: () => import('./guide.tsx'),
  reference: () => import('./reference.tsx'),
  changelog: () => import('./changelog.tsx'),
  reader: () => import('./reader.tsx'),
  problems: () => import('./problems.tsx'),
  problem: () => import('./problem.tsx'),
}
