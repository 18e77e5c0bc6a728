terraform {
  required_version = ">= 1.0"
}

variable "region" {
  type    = string
  default = "eu-west-1"
}

resource "aws_instance" "web" {
  ami           = "ami-123456"
  instance_type = var.small ? "t2.micro" : "t2.large"
  count         = length(var.zones) + 1

  tags = {
    Name = "web-${count.index}"
    Env  = upper(var.region)
  }

  ebs_block_device {
    device_name = "/dev/sda1"
    volume_size = 10
  }
}

output "ips" {
  value = [for i in aws_instance.web : i.private_ip]
}
