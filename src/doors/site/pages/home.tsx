// The first page: what this is, and a way in.
import { definePage } from '../ports.ts'
import { common } from '../texts/common.ts'

export const page = definePage({
  isFixed: true,
  load: ({ site }) => ({ base_url: site.addresses.baseUrl, mcp_url: site.addresses.mcpUrl }),
  title: (_data, { language }) => common[language].name,
  View: ({ page }) => <h1>{common[page.language].tagline}</h1>,
})
