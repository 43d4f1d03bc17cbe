// The interface that handlers see of the resources that can be paid with x402. Types only.
import type {
  DiscoveryListPage,
  DiscoveryListQuery,
  DiscoverySearchPage,
  DiscoverySearchQuery,
} from '../../schemas/discovery.ts'

/** Resources that can be paid with x402, from other catalogues and our own. */
export interface Discovery {
  /** @throws {GatewayError} input_invalid, input_conflict */
  list(query: DiscoveryListQuery): Promise<DiscoveryListPage>
  /** @throws {GatewayError} input_invalid */
  search(query: DiscoverySearchQuery): Promise<DiscoverySearchPage>
}
