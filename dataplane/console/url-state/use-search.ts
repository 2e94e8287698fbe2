/** The search part of the URL as it stands there. That of `wouter` is decoded once already: parameters would be decoded twice, and `/a%20b` of a log line be `/a b`. */
export { useSearch } from 'wouter/use-browser-location'
