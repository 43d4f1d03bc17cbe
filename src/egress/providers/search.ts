// Search, news, maps and weather.
import type { ProviderEntry } from './schema.ts'

const json = { 'content-type': 'application/json' }

export const search: readonly ProviderEntry[] = [
  {
    id: 'brave-search',
    name: 'Brave Search',
    category: 'search',
    hosts: ['api.search.brave.com'],
    placements: [{ in: 'header', name: 'x-subscription-token' }],
    test_call: {
      method: 'GET',
      url: 'https://api.search.brave.com/res/v1/web/search?q=test',
      what: 'Search',
    },
    docs: 'https://api-dashboard.search.brave.com/app/documentation',
  },
  {
    id: 'tavily',
    name: 'Tavily',
    category: 'search',
    hosts: ['api.tavily.com'],
    test_call: { method: 'GET', url: 'https://api.tavily.com/usage', what: 'Read the usage' },
    variables: ['TAVILY_API_KEY'],
    key_format: { prefix: 'tvly-', length: 37 },
    docs: 'https://docs.tavily.com/documentation/api-reference/introduction',
  },
  {
    id: 'exa',
    name: 'Exa',
    category: 'search',
    hosts: ['api.exa.ai'],
    placements: [{ in: 'header', name: 'x-api-key' }],
    test_call: {
      method: 'POST',
      url: 'https://api.exa.ai/search',
      what: 'Search',
      headers: json,
      body: '{"query":"test","numResults":1}',
    },
    variables: ['EXA_API_KEY'],
    key_format: { prefix: '', length: 36 },
    docs: 'https://docs.exa.ai/reference/getting-started',
  },
  {
    id: 'serper',
    name: 'Serper',
    category: 'search',
    hosts: ['google.serper.dev'],
    placements: [{ in: 'header', name: 'x-api-key' }],
    test_call: {
      method: 'POST',
      url: 'https://google.serper.dev/search',
      what: 'Search',
      headers: json,
      body: '{"q":"test"}',
    },
    docs: 'https://serper.dev/',
  },
  {
    id: 'serpapi',
    name: 'SerpApi',
    category: 'search',
    hosts: ['serpapi.com'],
    placements: [{ in: 'query', name: 'api_key' }],
    // The account is shown with its key.
    denied: ['/account', '/account.json'],
    test_call: {
      method: 'GET',
      url: 'https://serpapi.com/search.json?engine=google&q=test',
      what: 'Search',
    },
    docs: 'https://serpapi.com/search-api',
  },
  {
    id: 'algolia',
    name: 'Algolia',
    category: 'search',
    host_suffixes: ['.algolia.net', '.algolianet.com'],
    parts: { application_id: 'public', api_key: 'secret' },
    placements: [
      { in: 'header', name: 'x-algolia-application-id', part: 'application_id' },
      { in: 'header', name: 'x-algolia-api-key', part: 'api_key' },
    ],
    denied: ['/1/keys', '/1/keys/*', '/1/keys/*/restore'],
    test_call: {
      method: 'GET',
      url: 'https://your-app-id-dsn.algolia.net/1/indexes',
      what: 'List indices',
    },
    docs: 'https://www.algolia.com/doc/rest-api/search/',
  },
  {
    id: 'newsapi',
    name: 'News API',
    category: 'search',
    hosts: ['newsapi.org'],
    placements: [{ in: 'header', name: 'x-api-key' }],
    test_call: {
      method: 'GET',
      url: 'https://newsapi.org/v2/top-headlines?country=us&pageSize=1',
      what: 'Read a headline',
    },
    docs: 'https://newsapi.org/docs/authentication',
  },
  {
    id: 'google-maps',
    name: 'Google Maps',
    category: 'search',
    hosts: ['maps.googleapis.com'],
    placements: [{ in: 'query', name: 'key' }],
    test_call: {
      method: 'GET',
      url: 'https://maps.googleapis.com/maps/api/geocode/json?address=Berlin',
      what: 'Find a place',
    },
    docs: 'https://developers.google.com/maps/documentation/geocoding/requests-geocoding',
  },
  {
    id: 'openweather',
    name: 'OpenWeather',
    category: 'search',
    hosts: ['api.openweathermap.org'],
    placements: [{ in: 'query', name: 'appid' }],
    test_call: {
      method: 'GET',
      url: 'https://api.openweathermap.org/data/2.5/weather?q=Berlin',
      what: 'Read the weather',
    },
    docs: 'https://openweathermap.org/appid',
  },
]
