// Vector stores.
import type { ProviderEntry } from './schema.ts'

export const vectors: readonly ProviderEntry[] = [
  {
    id: 'pinecone',
    name: 'Pinecone',
    category: 'vectors',
    hosts: ['api.pinecone.io'],
    host_suffixes: ['.pinecone.io'],
    placements: [{ in: 'header', name: 'api-key' }],
    version_headers: { 'x-pinecone-api-version': '2025-04' },
    request_headers: ['x-pinecone-api-version'],
    denied: ['POST /admin/projects/*/api-keys'],
    test_call: { method: 'GET', url: 'https://api.pinecone.io/indexes', what: 'List indices' },
    variables: ['PINECONE_API_KEY'],
    key_format: { prefix: 'pcsk_', length: 75 },
    docs: 'https://docs.pinecone.io/reference/api/authentication',
  },
  {
    id: 'qdrant',
    name: 'Qdrant Cloud',
    category: 'vectors',
    host_suffixes: ['.cloud.qdrant.io'],
    placements: [{ in: 'header', name: 'api-key' }],
    test_call: {
      method: 'GET',
      url: 'https://your-cluster.eu-central-1-0.aws.cloud.qdrant.io/collections',
      what: 'List collections',
    },
    docs: 'https://qdrant.tech/documentation/cloud/authentication/',
  },
  {
    id: 'weaviate',
    name: 'Weaviate Cloud',
    category: 'vectors',
    host_suffixes: ['.weaviate.cloud'],
    denied: ['POST /v1/users/db/*', 'POST /v1/users/db/*/rotate-key'],
    test_call: {
      method: 'GET',
      url: 'https://your-cluster.c0.europe-west3.gcp.weaviate.cloud/v1/meta',
      what: 'Read the version',
    },
    docs: 'https://docs.weaviate.io/cloud',
  },
  {
    id: 'upstash-vector',
    name: 'Upstash Vector',
    category: 'vectors',
    host_suffixes: ['.upstash.io'],
    test_call: { method: 'GET', url: 'https://your-index-vector.upstash.io/info', what: 'Read the index' },
    docs: 'https://upstash.com/docs/vector/api/get-started',
  },
  {
    id: 'chroma',
    name: 'Chroma Cloud',
    category: 'vectors',
    hosts: ['api.trychroma.com'],
    placements: [{ in: 'header', name: 'x-chroma-token' }],
    test_call: {
      method: 'GET',
      url: 'https://api.trychroma.com/api/v2/auth/identity',
      what: 'Read whose token it is',
    },
    docs: 'https://docs.trychroma.com/cloud/getting-started',
  },
]
