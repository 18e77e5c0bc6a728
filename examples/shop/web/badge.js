// A badge for the order list: the first letters of the customer's name.
export function badge(name) {
  return name.substr(0, 2).toUpperCase();
}

export function token(text) {
  return new Buffer(text).toString("base64");
}
