# a bucket
resource "aws_s3_bucket" "logs" {
  bucket = "logs-${var.env}"
  tags = {
    Name = "logs"
  }
}
